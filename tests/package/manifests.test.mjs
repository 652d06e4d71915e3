// What runs the server elsewhere: the image's recipe, Kubernetes' manifests and Grafana's dashboard, each judged by a
// linter, a schema or the real page of metrics.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { start } from "../sdk/server.mjs";

const require = createRequire(import.meta.url);
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path) => readFileSync(at(path), "utf8");
const { parser } = require("@prometheus-io/lezer-promql");
const YAML = require("yaml");

describe("Kubernetes", () => {
  const documents = ["packaging/kubernetes/orrery.yaml", "packaging/kubernetes/service-monitor.yaml"].flatMap((path) =>
    YAML.parseAllDocuments(read(path)).map((document) => {
      assert.deepEqual(document.errors, [], path);
      return document.toJS();
    }));
  const ofKind = (kind) => documents.filter((one) => one.kind === kind);

  it("each manifest is what the schema of its kind says", () => {
    for (const object of documents) {
      const [group, version] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion];
      const module = group === "monitoring.coreos.com"
        ? `@kubernetes-models/prometheus-operator/${group}/${version}/${object.kind}`
        : `kubernetes-models/${group === "" ? version : `${group}/${version}`}/${object.kind}`;
      const Model = require(module)[object.kind];
      new Model(object).validate();
      assert.throws(() => new Model({ ...object, spec: 7 }).validate(), "the schema sees what is wrong");
    }
    assert.deepEqual(documents.map((one) => one.kind).sort(), ["Service", "Service", "ServiceMonitor", "StatefulSet"]);
  });

  it("names agree: services find the pods, probes and the monitor their ports", () => {
    const [set] = ofKind("StatefulSet");
    const [container] = set.spec.template.spec.containers;
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    for (const service of ofKind("Service")) {
      for (const [name, value] of Object.entries(service.spec.selector)) {
        assert.equal(set.spec.template.metadata.labels[name], value);
      }
      for (const port of service.spec.ports) assert.equal(ports[port.targetPort], port.port);
    }
    assert.ok(ofKind("Service").some((one) => one.metadata.name === set.spec.serviceName));
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
      assert.equal(container[probe].httpGet.path, "/healthz");
      assert.ok(ports[container[probe].httpGet.port], probe);
    }
    const [monitor] = ofKind("ServiceMonitor");
    const [watched] = ofKind("Service").filter((one) =>
      Object.entries(monitor.spec.selector.matchLabels).every(([name, value]) => one.metadata.labels[name] === value));
    assert.ok(watched.spec.ports.some((port) => port.name === monitor.spec.endpoints[0].port));
    assert.ok(container.volumeMounts.some(({ mountPath }) =>
      container.args.some((one) => one.startsWith(`--data=${mountPath}/`))));
  });

  it("its arguments are the program's, and the probes' page answers", async () => {
    const [container] = ofKind("StatefulSet")[0].spec.template.spec.containers;
    const own = container.args.filter((one) => !/^(serve$|--data=|--ops-port=|--address=)/.test(one));
    const server = await start({ dev: false, args: [...own, "--ops-port", "0"] });
    try {
      assert.equal((await server.rest()("GET", "/healthz", { key: null })).status, 200);
    } finally {
      await server.close();
    }
  });
});

describe("image", () => {
  const file = "packaging/docker/Dockerfile";

  it("its arguments are the program's", async () => {
    const [, list] = /^CMD (\[.*\])$/m.exec(read(file));
    const args = JSON.parse(list);
    assert.deepEqual(args.slice(0, 3), ["serve", "--data", "/var/lib/orrery"]);
    const rest = args.slice(3).map((one, i, all) => (all[i - 1] === "--ops-port" ? "0" : all[i - 1] === "--address" ? "127.0.0.1" : one));
    await (await start({ dev: false, args: rest })).close();
  });

  it("the recipe passes hadolint", { skip: !existsSync(at("build/package-tools/bin/hadolint")) && "hadolint is not installed" }, () => {
    execFileSync(at("build/package-tools/bin/hadolint"), [at(file)], { stdio: "pipe" });
  });
});

describe("Grafana's dashboard", () => {
  const dashboard = JSON.parse(read("packaging/grafana/orrery.json"));
  const queries = [
    ...dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr)),
    ...dashboard.templating.list.filter((one) => one.type === "query").map((one) =>
      /^label_values\((.*), \w+\)$/.exec(one.query.query)[1]),
  ];
  // Grafana's own variables are durations.
  const plain = (query) => query.replaceAll("$__rate_interval", "5m");
  let page;
  before(async () => {
    const server = await start();
    after(() => server.close());
    const client = server.client();
    const { database } = await client.databases.create({ id: "db" });
    const { container } = await database.containers.create({ id: "c", partitionKey: { paths: ["/pk"] } });
    await container.items.create({ id: "1", pk: "a" });
    page = (await server.rest()("GET", "/metrics", { key: null })).text;
  });

  // {metric: Set of labels} of the page.
  const onPage = () => {
    const known = {};
    for (const line of page.split("\n")) {
      const found = /^(\w+)(?:\{(.*)\})? /.exec(line);
      if (line.startsWith("#") || !found) continue;
      known[found[1]] ??= new Set();
      for (const [, label] of (found[2] ?? "").matchAll(/(\w+)="/g)) known[found[1]].add(label);
    }
    return known;
  };

  it("every metric and label that it asks for is on the real page", () => {
    const known = onPage();
    const added = new Set(["job", "instance"]);  // by Prometheus
    const asked = new Set();
    for (const query of queries) {
      for (const [, name, selector] of plain(query).matchAll(/\b(orrery_\w+)(?:\{([^}]*)\})?/g)) {
        asked.add(name);
        assert.ok(known[name], `${name} is not on the page, and is in: ${query}`);
        for (const [, label] of (selector ?? "").matchAll(/(\w+)\s*[=!]~?"/g)) {
          assert.ok(added.has(label) || known[name].has(label), `${name} has no label ${label}, as in: ${query}`);
        }
        const [, grouped] = /\bby \(([^)]*)\)/.exec(query) ?? [, ""];
        for (const label of grouped.split(", ").filter(Boolean)) assert.ok(known[name].has(label), `${name}: ${label}`);
      }
    }
    assert.ok(asked.size > 15, `${[...asked]}`);
  });

  it("each query is one by Prometheus' own grammar", () => {
    for (const query of queries) {
      parser.parse(plain(query)).iterate({
        enter: (node) => assert.ok(!node.type.isError, `${query} at ${node.from}`),
      });
    }
    let broken = false;
    parser.parse("sum(rate(x[5m])").iterate({ enter: (node) => void (broken ||= node.type.isError) });
    assert.ok(broken, "the grammar sees what is wrong");
  });

  it("panels are in their places and have different numbers", () => {
    const ids = dashboard.panels.map((panel) => panel.id);
    assert.equal(new Set(ids).size, ids.length);
    const taken = new Set();
    for (const { gridPos: { x, y, w, h }, title } of dashboard.panels) {
      assert.ok(x + w <= 24, title);
      for (let i = x; i < x + w; ++i) {
        for (let j = y; j < y + h; ++j) {
          assert.ok(!taken.has(`${i},${j}`), `${title} lies over another panel`);
          taken.add(`${i},${j}`);
        }
      }
    }
  });
});
