// What a script finds in its global object, over the few functions that the worker gives (`native`).
//
// Evaluated once in each realm, before the user's source; the value is a function that the worker
// calls with `native` and that returns what the worker needs. A script may overwrite or break
// anything here: it hurts only its own execution, since each has its own realm, and the server
// trusts nothing that comes out of it.
//
// Document operations are done at once, and their callbacks run later, in order, when the function
// that asked has returned.
//
// Every execution pays for what is done here. In a fresh realm, each of iteration, destructuring of
// arrays, spreading, regular expressions and the methods of arrays costs tens of microseconds the
// first time: what every execution needs does without them, and what few need is made when asked for.
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
  const CREATE = 0, READ = 1, REPLACE = 2, UPSERT = 3, DELETE = 4, QUERY = 5, READ_FEED = 6;

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
    const message = { values, isBodySet: false, areHeadersSet: false };

    function set(name, value) {
      if (!(name in values)) refuse(ErrorCodes.BadRequest, `There is no value '${name}' to set.`);
      if (!writable) refuse(ErrorCodes.Forbidden, `'${name}' cannot be set here.`);
      if (name === "Body" && bytesMax > 0 && typeof value === "string" && value.length > bytesMax) {
        refuse(ErrorCodes.RequestEntityTooLarge,
          `The body would have ${value.length} characters; the most is ${bytesMax}. ` +
          "Return what there is, and continue in another call.");
      }
      values[name] = value;
      if (name === "Body") message.isBodySet = true;
      else message.areHeadersSet = true;
    }

    function append(name, value) {
      const before = values[name];
      set(name, before === undefined || before === null ? value : before + value);
    }

    message.face = {
      getBody: () => values.Body,
      setBody: (value) => set("Body", value),
      appendBody: (value) => append("Body", value),
      getValue: (name) => values[name],
      setValue: set,
      appendValue: append,
      getOperationType: () => values.OperationType,
      getResourceQuotaCurrentUsage: () => values.ResourceQuotaCurrentUsage,
      getMaxResourceQuota: () => values.MaxResourceQuota,
    };
    return message;
  }

  // An object without a prototype, so that it has no other names.
  function headerValues(headers) {
    const values = Object.create(null);
    return headers === "" ? values : Object.assign(values, JSON.parse(headers));
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
      const byName = !link.startsWith(links.self + "/docs/");
      const prefix = (byName ? links.alt : links.self) + "/docs/";
      const document = withoutSlash(link.slice(prefix.length));
      if (link.startsWith(prefix) && document !== "" && !document.includes("/")) {
        return { document, byName };
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
    const answer = native.operation(
      kind, document, byName, body, String(etag), String(options.continuation || ""),
      Number(options.pageSize) || PAGE_SIZE, options.enableScan === true, String(options.indexAction || ""));
    const status = answer[0], text = answer[1], continuation = answer[2];
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

  // ---- Queries in JavaScript (prelude_query.js), which take the place of these when one is called.

  const QUERY_METHODS =
    ["chain", "filter", "map", "pluck", "flatten", "sortBy", "sortByDescending", "unwind"];

  function intoResponse(error, feed) {
    if (error) throw error;
    if (!response) refuse(ErrorCodes.BadRequest, "A pre-trigger has no response: pass a callback.");
    response.face.appendBody(JSON.stringify(feed));
  }

  function standIn(name) {
    collection[name] = function () {
      native.queries()(native, collection,
        { ErrorCodes, PAGE_SIZE, READ_FEED, refuse, tail, later, operationError, intoResponse });
      return collection[name].apply(collection, arguments);
    };
  }
  for (let i = 0; i < QUERY_METHODS.length; i++) standIn(QUERY_METHODS[i]);

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

  define("console", makeConsole(false));

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
    requestValues.Body = run.requestBody === "" ? undefined : JSON.parse(run.requestBody);
    requestValues.OperationType = run.operation === "" ? undefined : run.operation;
    request = makeMessage(requestValues, run.isPreTrigger, 0);
    const context = {
      getCollection: () => collection,
      getRequest: () => request.face,
      abort: native.abort,
    };
    const shortcut = { __proto__: collection, request: request.face, abort: native.abort };
    if (!run.isPreTrigger) {
      const responseValues = headerValues(run.responseHeaders);
      responseValues.Body = run.responseBody === "" ? "" : JSON.parse(run.responseBody);
      response = makeMessage(responseValues, true, run.responseBytes);
      context.getResponse = () => response.face;
      shortcut.response = response.face;
    }
    define("getContext", () => context);
    define("__", shortcut);
  }

  function call(entry, args) {
    return args === "" ? entry() : entry.apply(undefined, JSON.parse(args));
  }

  function bodyText(message) {
    return message && message.isBodySet ? JSON.stringify(message.values.Body) ?? "" : "";
  }

  function finish() {
    const headers = response && response.areHeadersSet
      ? JSON.stringify({ ...response.values, Body: undefined }) : "";
    return [bodyText(response), bodyText(request), headers];
  }

  // Calls a function for each row. The text has [result], or [] for undefined, for each.
  function callRows(entry, text, undefinedAt) {
    const rows = JSON.parse(text);
    for (let i = 0; i + 1 < undefinedAt.length; i += 2) rows[undefinedAt[i]][undefinedAt[i + 1]] = undefined;
    for (let i = 0; i < rows.length; i++) {
      const result = entry.apply(undefined, rows[i]);
      rows[i] = result === undefined ? [] : [result];
    }
    return JSON.stringify(rows);
  }

  return { begin, call, next, finish, callRows, log: () => log };
})
