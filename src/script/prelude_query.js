// Queries in JavaScript: filter, map and the others, alone or chained, over all documents that the
// execution can see. The functions given run here, in the worker; the server reads the documents.
//
// Evaluated in a realm when its script first calls one of these. The value is a function that puts
// the methods into the collection.
(function (native, collection, tools) {
  "use strict";

  const { ErrorCodes, PAGE_SIZE, READ_FEED, refuse, tail, later, operationError, intoResponse } = tools;

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
})
