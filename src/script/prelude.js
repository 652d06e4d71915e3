// What a script finds in its global object, over the few functions that the worker gives (`native`).
//
// Evaluated once in each realm, before the user's source; the value is a function that the worker
// calls with `native` and that returns what the worker needs. A script may overwrite or break
// anything here: it hurts only its own execution, since each has its own realm, and the server
// trusts nothing that comes out of it.
//
// Document operations are done at once, and their callbacks run later, in order, when the function
// that asked has returned.
(function (native) {
  "use strict";

  const ErrorCodes = Object.freeze({
    BadRequest: 400,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    PreconditionFailed: 412,
    RequestEntityTooLarge: 413,
    RetryWith: 449,
    InternalServerError: 500,
  });
  const PAGE_SIZE = 100;
  // In the order of OperationKind in protocol.h.
  const [CREATE, READ, REPLACE, UPSERT, DELETE, QUERY, READ_FEED] = [0, 1, 2, 3, 4, 5, 6];

  function define(name, value) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }

  // ---- Errors: `new Error(number, text)` gives an error a status, besides the usual form.

  const PlainError = Error;

  function makeError(args, target) {
    const numbered = typeof args[0] === "number" && typeof args[1] === "string";
    const error = Reflect.construct(PlainError, numbered ? [args[1]] : args, target);
    if (numbered) {
      error.number = args[0];
      error.body = args[1];
    }
    // The frames of this file are nobody's business.
    error.stack = error.stack.replace(/^(?:.*@orrery:.*\n)+/, "");
    return error;
  }

  define("Error", new Proxy(PlainError, {
    apply: (target, self, args) => makeError(args, target),
    construct: (target, args, made) => makeError(args, made),
  }));
  PlainError.prototype.constructor = Error;
  define("ErrorCodes", ErrorCodes);

  function refuse(number, text) {
    throw new Error(number, text);
  }

  function operationError(status, body) {
    let message = body;
    try {
      message = JSON.parse(body).message || body;
    } catch { /* the body is the message */ }
    const error = new Error(status, message);
    error.body = body;
    return error;
  }

  // ---- Callbacks that wait for their turn.

  const waiting = [];
  let first = 0;

  function later(callback) {
    waiting.push(callback);
  }

  // Runs one; false if none is waiting.
  function next() {
    if (first === waiting.length) return false;
    const callback = waiting[first];
    waiting[first++] = undefined;
    if (first === waiting.length) first = waiting.length = 0;
    callback();
    return true;
  }

  // ---- Request and response: named values, of which "Body" is one.

  function makeMessage(values, writable, bytesMax) {
    const changed = new Set();

    function set(name, value) {
      if (!values.has(name)) refuse(ErrorCodes.BadRequest, `There is no value '${name}' to set.`);
      if (!writable) refuse(ErrorCodes.Forbidden, `'${name}' cannot be set here.`);
      if (name === "Body" && bytesMax > 0 && typeof value === "string" && value.length > bytesMax) {
        refuse(ErrorCodes.RequestEntityTooLarge,
          `The body would have ${value.length} characters; the most is ${bytesMax}. ` +
          "Return what there is, and continue in another call.");
      }
      values.set(name, value);
      changed.add(name);
    }

    function append(name, value) {
      const before = values.get(name);
      set(name, before === undefined || before === null ? value : before + value);
    }

    return {
      changed,
      values,
      face: {
        getBody: () => values.get("Body"),
        setBody: (value) => set("Body", value),
        appendBody: (value) => append("Body", value),
        getValue: (name) => values.get(name),
        setValue: set,
        appendValue: append,
        getOperationType: () => values.get("OperationType"),
        getResourceQuotaCurrentUsage: () => values.get("ResourceQuotaCurrentUsage"),
        getMaxResourceQuota: () => values.get("MaxResourceQuota"),
      },
    };
  }

  function headerValues(headers) {
    return new Map(headers === "" ? [] : Object.entries(JSON.parse(headers)));
  }

  // ---- Links of the container and of its items.

  let links;  // { self, alt }, without a slash at the end

  function withoutSlash(link) {
    return link.endsWith("/") ? link.slice(0, -1) : link;
  }

  function checkContainerLink(link) {
    const plain = typeof link === "string" ? withoutSlash(link) : undefined;
    if (plain !== links.self && plain !== links.alt) {
      refuse(ErrorCodes.BadRequest, `'${link}' is not the link of this container; ` +
        "use getSelfLink() or getAltLink(). A script reaches no other container.");
    }
  }

  function documentOf(link) {
    if (typeof link === "string") {
      for (const [container, byName] of [[links.self, false], [links.alt, true]]) {
        const prefix = container + "/docs/";
        const document = withoutSlash(link.slice(prefix.length));
        if (link.startsWith(prefix) && document !== "" && !document.includes("/")) {
          return { document, byName };
        }
      }
    }
    refuse(ErrorCodes.BadRequest, `'${link}' is not the link of an item in this container; use the ` +
      "item's _self, or getAltLink() + '/docs/' + id.");
  }

  // ---- Document operations.

  // The optional `options` and `callback` at the end of every call.
  function tail(options, callback) {
    if (callback === undefined && typeof options === "function") {
      callback = options;
      options = undefined;
    }
    if (options !== undefined && options !== null && typeof options !== "object") {
      refuse(ErrorCodes.BadRequest, `'options' must be an object, not a ${typeof options}.`);
    }
    if (callback !== undefined && callback !== null && typeof callback !== "function") {
      refuse(ErrorCodes.BadRequest, `'callback' must be a function, not a ${typeof callback}.`);
    }
    return { options: options || {}, callback };
  }

  function needArguments(name, least, count) {
    if (count < least) {
      refuse(ErrorCodes.BadRequest, `${name} needs at least ${least} argument(s), and was given ${count}.`);
    }
  }

  // False if the operation was not accepted. `deliver` hands an answer that is no error on.
  function perform(kind, { document = "", byName = false }, body, options, callback, deliver) {
    if (!native.accepts()) return false;
    const etag = (kind === READ ? options.ifNoneMatch : options.etag) || "";
    const [status, text, continuation] = native.operation(
      kind, document, byName, body, String(etag), String(options.continuation || ""),
      Number(options.pageSize) || PAGE_SIZE, options.enableScan === true, String(options.indexAction || ""));
    later(() => {
      if (status >= 400) {
        const error = operationError(status, text);
        if (!callback) throw error;
        callback(error);
      } else if (callback) {
        deliver(callback, text, { statusCode: status, continuation });
      }
    });
    return true;
  }

  function deliverDocument(callback, text, { statusCode }) {
    if (statusCode === 304) callback(undefined, undefined, { statusCode, notModified: true });
    else callback(undefined, JSON.parse(text), { statusCode });
  }

  function deliverFeed(callback, text, { statusCode, continuation }) {
    callback(undefined, JSON.parse(text), { statusCode, continuation: continuation || undefined });
  }

  function newId() {
    let id = "";
    for (let i = 0; i < 32; i++) {
      if (i === 8 || i === 12 || i === 16 || i === 20) id += "-";
      id += Math.floor(Math.random() * 16).toString(16);
    }
    return id;
  }

  // The text of a document to write; one to create gets an id if it has none.
  function documentText(body, options, generateId) {
    if (body === null || (typeof body !== "object" && typeof body !== "string")) {
      refuse(ErrorCodes.BadRequest, "The document must be an object, or the JSON text of one.");
    }
    if (generateId && options.disableAutomaticIdGeneration !== true) {
      const object = typeof body === "string" ? JSON.parse(body) : body;
      if (object !== null && typeof object === "object" && !object.id) {
        body = { ...object, id: newId() };
      }
    }
    return typeof body === "string" ? body : JSON.stringify(body);
  }

  function write(kind, name) {
    return function (link, body, options, callback) {
      needArguments(name, 2, arguments.length);
      checkContainerLink(link);
      ({ options, callback } = tail(options, callback));
      return perform(kind, {}, documentText(body, options, true), options, callback, deliverDocument);
    };
  }

  const collection = {
    getSelfLink: () => links.given.self,
    getAltLink: () => links.given.alt,

    createDocument: write(CREATE, "createDocument"),
    upsertDocument: write(UPSERT, "upsertDocument"),

    readDocument(link, options, callback) {
      needArguments("readDocument", 1, arguments.length);
      ({ options, callback } = tail(options, callback));
      return perform(READ, documentOf(link), "", options, callback, deliverDocument);
    },

    replaceDocument(link, body, options, callback) {
      needArguments("replaceDocument", 2, arguments.length);
      ({ options, callback } = tail(options, callback));
      return perform(REPLACE, documentOf(link), documentText(body, options, false), options, callback,
        deliverDocument);
    },

    deleteDocument(link, options, callback) {
      needArguments("deleteDocument", 1, arguments.length);
      ({ options, callback } = tail(options, callback));
      return perform(DELETE, documentOf(link), "", options, callback,
        (done, text, { statusCode }) => done(undefined, { statusCode }));
    },

    queryDocuments(link, query, options, callback) {
      needArguments("queryDocuments", 2, arguments.length);
      checkContainerLink(link);
      if (typeof query !== "string" && (typeof query !== "object" || query === null)) {
        refuse(ErrorCodes.BadRequest, "The query must be a string, or an object with query and parameters.");
      }
      ({ options, callback } = tail(options, callback));
      const body = JSON.stringify(typeof query === "string" ? { query } : query);
      return perform(QUERY, {}, body, options, callback, deliverFeed);
    },

    readDocuments(link, options, callback) {
      needArguments("readDocuments", 1, arguments.length);
      checkContainerLink(link);
      ({ options, callback } = tail(options, callback));
      return perform(READ_FEED, {}, "", options, callback, deliverFeed);
    },
  };

  for (const name of ["create", "upsert", "read", "replace", "delete", "query"]) {
    const method = name + (name === "query" ? "Attachments" : "Attachment");
    collection[method] = () => refuse(ErrorCodes.BadRequest, `${method}: there are no attachments.`);
  }
  collection.readAttachments = collection.readAttachment;

  // ---- Queries in JavaScript: filter, map and the others, alone or chained, over all documents.

  // undefined, null, booleans, numbers, strings, the rest.
  const RANKS = { undefined: 0, boolean: 2, number: 3, bigint: 3, string: 4 };

  function compare(a, b) {
    const rank = (value) => (value === null ? 1 : RANKS[typeof value] ?? 5);
    const difference = rank(a) - rank(b);
    if (difference !== 0) return difference;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function needFunction(name, given) {
    if (typeof given !== "function") {
      refuse(ErrorCodes.BadRequest, `${name} needs a function, and was given a ${typeof given}.`);
    }
    return given;
  }

  function sorting(name, direction) {
    return (selector = (document) => document) => {
      needFunction(name, selector);
      return {
        needsAll: true,
        apply: (items) => items
          .map((item) => ({ item, key: selector(item) }))
          .sort((a, b) => direction * compare(a.key, b.key))
          .map(({ item }) => item),
      };
    };
  }

  // Each makes a step out of its arguments, which it takes from the front of the list.
  const steps = {
    filter: (predicate) => (needFunction("filter", predicate), {
      apply: (items) => items.filter((item) => predicate(item)),
    }),
    map: (transform) => (needFunction("map", transform), {
      apply: (items) => items.map((item) => transform(item)),
    }),
    pluck: (property) => {
      if (typeof property !== "string" || property === "") {
        refuse(ErrorCodes.BadRequest, "pluck needs the name of a property.");
      }
      return { apply: (items) => items.map((item) => item[property]) };
    },
    flatten: (isShallow) => ({ apply: (items) => items.flat(isShallow === true ? 1 : Infinity) }),
    sortBy: sorting("sortBy", 1),
    sortByDescending: sorting("sortByDescending", -1),
    unwind: (inner, result) => {
      needFunction("unwind", inner);
      const pair = result === undefined ? (item, element) => element : needFunction("unwind", result);
      return {
        apply: (items) => items.flatMap((item) =>
          Array.from(inner(item) ?? [], (element) => pair(item, element))),
      };
    },
  };

  // How many of a lone call's arguments belong to the step itself; options and callback follow.
  function ownArguments(name, args) {
    if (name === "flatten") return typeof args[0] === "boolean" ? 1 : 0;
    if (name === "unwind") return typeof args[1] === "function" ? 2 : 1;
    if (name.startsWith("sortBy")) return typeof args[0] === "function" ? 1 : 0;
    return 1;
  }

  function intoResponse(error, feed) {
    if (error) throw error;
    if (!response) refuse(ErrorCodes.BadRequest, "A pre-trigger has no response: pass a callback.");
    response.face.appendBody(JSON.stringify(feed));
  }

  // The results are those of one page of documents after another, each run through the steps; a
  // continuation is the page's own and how many of its results are already delivered. A sort needs
  // all documents: then they count as one page.
  function runQuery(chain, options, callback) {
    ({ options, callback } = tail(options, callback));
    callback = callback || intoResponse;
    if (!native.accepts()) return { isAccepted: false };
    const wanted = Number(options.pageSize) > 0 ? Number(options.pageSize) : PAGE_SIZE;
    const needsAll = chain.some((step) => step.needsAll);
    let [page, skip] = options.continuation ? JSON.parse(options.continuation) : ["", 0];
    const feed = [];
    let left = true;
    while (left && feed.length < wanted) {
      let documents = [];
      let following;
      do {
        if (!native.accepts()) {
          if (needsAll || feed.length === 0) return { isAccepted: false };
          documents = undefined;
          break;
        }
        const [status, text, continuation] =
          native.operation(READ_FEED, "", false, "", "", following ?? page, wanted, true, "");
        if (status >= 400) {
          later(() => callback(operationError(status, text)));
          return { isAccepted: true };
        }
        documents = documents.concat(JSON.parse(text));
        following = continuation;
      } while (needsAll && following !== "");
      if (documents === undefined) break;
      let results;
      try {
        results = chain.reduce((items, step) => step.apply(items), documents);
      } catch (error) {
        later(() => callback(error));
        return { isAccepted: true };
      }
      const taken = results.slice(skip, skip + wanted - feed.length);
      feed.push(...taken);
      if (skip + taken.length < results.length) {
        skip += taken.length;
      } else {
        page = following;
        skip = 0;
        left = following !== "";
      }
    }
    const continuation = left ? JSON.stringify([page, skip]) : undefined;
    later(() => callback(undefined, feed, { continuation }));
    return { isAccepted: true };
  }

  function withoutCollection(args) {
    return args[0] === collection || args[0] === globalThis.__ ? args.slice(1) : args;
  }

  collection.chain = function () {
    const chain = [];
    const query = { isAccepted: true };
    for (const name of Object.keys(steps)) {
      query[name] = (...args) => {
        args = withoutCollection(args);
        if (args.length > Math.max(ownArguments(name, args), 1)) {
          refuse(ErrorCodes.BadRequest, `${name}: in a chain, options and callback go to value().`);
        }
        chain.push(steps[name](...args));
        return query;
      };
    }
    query.value = (options, callback) => runQuery(chain, options, callback);
    return query;
  };

  for (const name of Object.keys(steps)) {
    collection[name] = (...args) => {
      args = withoutCollection(args);
      const own = ownArguments(name, args);
      return runQuery([steps[name](...args.slice(0, own))], ...args.slice(own, own + 2));
    };
  }

  // ---- The console.

  let log = "";

  function makeConsole(logging) {
    const write = (format, ...values) => {
      if (!logging || log.length >= native.logBytes) return;
      let text = String(format);
      if (typeof format === "string") {
        text = text.replace(/%[%s]/g, (mark) => (mark === "%%" ? "%" : values.length ? String(values.shift()) : mark));
      }
      for (const value of values) text += " " + String(value);
      log += (log === "" ? "" : "\n") + text;
      if (log.length > native.logBytes) {
        log = log.slice(0, native.logBytes) + `\n(cut at ${native.logBytes} characters)`;
      }
    };
    return { log: write, info: write, warn: write, error: write, debug: write };
  }

  // ---- The execution.

  let request;
  let response;

  // Makes the context; `run` has the fields of Execution in protocol.h that matter here.
  function begin(run) {
    define("console", makeConsole(run.logging));
    links = {
      self: withoutSlash(run.selfLink),
      alt: withoutSlash(run.altLink),
      given: { self: run.selfLink, alt: run.altLink },
    };
    const requestValues = headerValues(run.requestHeaders);
    requestValues.set("Body", run.requestBody === "" ? undefined : JSON.parse(run.requestBody));
    requestValues.set("OperationType", run.operation === "" ? undefined : run.operation);
    request = makeMessage(requestValues, run.isPreTrigger, 0);
    const context = {
      getCollection: () => collection,
      getRequest: () => request.face,
      abort: native.abort,
    };
    const shortcut = Object.create(collection, {
      request: { value: request.face, enumerable: true },
      abort: { value: native.abort },
    });
    if (!run.isPreTrigger) {
      const responseValues = headerValues(run.responseHeaders);
      responseValues.set("Body", run.responseBody === "" ? "" : JSON.parse(run.responseBody));
      response = makeMessage(responseValues, true, run.responseBytes);
      context.getResponse = () => response.face;
      Object.defineProperty(shortcut, "response", { value: response.face, enumerable: true });
    }
    define("getContext", () => context);
    define("__", shortcut);
  }

  function call(entry, args) {
    return entry(...(args === "" ? [] : JSON.parse(args)));
  }

  // The function that a source is for: the one named like the script, or the first that it
  // declares, or the value of its last statement.
  function entry(name, value) {
    const declared = Object.keys(globalThis).filter((key) => typeof globalThis[key] === "function");
    if (declared.includes(name)) return globalThis[name];
    if (declared.length > 0) return globalThis[declared[0]];
    return typeof value === "function" ? value : undefined;
  }

  function bodyText(message) {
    if (!message || !message.changed.has("Body")) return "";
    return JSON.stringify(message.values.get("Body")) ?? "";
  }

  function finish() {
    let headers = "";
    if (response && [...response.changed].some((name) => name !== "Body")) {
      headers = JSON.stringify(Object.fromEntries([...response.values].filter(([name]) => name !== "Body")));
    }
    return [bodyText(response), bodyText(request), headers];
  }

  // Calls a function for each row. The text has [result], or [] for undefined, for each.
  function callRows(entry, text, undefinedAt) {
    const rows = JSON.parse(text);
    for (let i = 0; i + 1 < undefinedAt.length; i += 2) rows[undefinedAt[i]][undefinedAt[i + 1]] = undefined;
    for (let i = 0; i < rows.length; i++) {
      const result = entry(...rows[i]);
      rows[i] = result === undefined ? [] : [result];
    }
    return JSON.stringify(rows);
  }

  return { begin, entry, call, next, finish, callRows, log: () => log };
})
