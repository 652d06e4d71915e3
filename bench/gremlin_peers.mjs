// Other graph databases for gremlin.mjs, fetched by Maven into its own folder of packages: Gremlin Server with a graph in
// memory, and JanusGraph over BerkeleyDB. Both have an index of names; JanusGraph has one of codes too, in the place of ids.
import { mkdirSync, writeFileSync } from "node:fs";

import { freePort, launch, output, within } from "./server.mjs";

const dependency = ([group, artifact, version, classifier]) =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>` +
  `${classifier ? `<classifier>${classifier}</classifier>` : ""}</dependency>`;

// The class path of some packages. `pinned`: versions that take the place of those that they ask for.
export async function classPath(folder, packages, pinned) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/pom.xml`, `<project><modelVersion>4.0.0</modelVersion><groupId>bench</groupId><artifactId>peer</artifactId>
<version>1</version><dependencyManagement><dependencies>${pinned.map(dependency).join("")}</dependencies></dependencyManagement>
<dependencies>${packages.map(dependency).join("")}</dependencies></project>`);
  await output("mvn", "--quiet", "--batch-mode", "--file", `${folder}/pom.xml`,
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath", `-Dmdep.outputFile=${folder}/classpath`);
  return (await output("cat", `${folder}/classpath`)).trim();
}

function settings(folder, port, serializer, plugins) {
  const lines = plugins.map((plugin) => `      ${plugin}: {}`).join("\n");
  writeFileSync(`${folder}/server.yaml`, `host: 127.0.0.1
port: ${port}
evaluationTimeout: 120000
channelizer: org.apache.tinkerpop.gremlin.server.channel.WebSocketChannelizer
graphs: { graph: ${folder}/graph.properties }
scriptEngines:
  gremlin-groovy:
    plugins:
${lines}
      org.apache.tinkerpop.gremlin.jsr223.ScriptFileGremlinPlugin: { files: [${folder}/start.groovy] }
serializers:
  - ${serializer}
processors:
  - { className: org.apache.tinkerpop.gremlin.server.op.standard.StandardOpProcessor, config: { maxParameters: 1000 } }
maxContentLength: 10485760
`);
}

// The one that it asks for does not know Java 17.
const groovy = ["groovy", "groovy-cli-picocli", "groovy-console", "groovy-groovysh", "groovy-json", "groovy-jsr223", "groovy-swing", "groovy-templates", "groovy-xml"]
  .flatMap((name) => [undefined, "indy"].map((classifier) => ["org.codehaus.groovy", name, "2.5.23", classifier]));

export async function startGremlinServer(folder) {
  const path = await classPath(folder, [["org.apache.tinkerpop", "gremlin-server", "3.4.13"], ["org.apache.tinkerpop", "tinkergraph-gremlin", "3.4.13"],
    ["org.slf4j", "slf4j-simple", "1.7.25"]], groovy);
  const port = await freePort();
  writeFileSync(`${folder}/graph.properties`, "gremlin.graph=org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph\n");
  writeFileSync(`${folder}/start.groovy`, "graph.createIndex('name', Vertex.class)\ndef globals = [g: graph.traversal()]\nglobals\n");
  settings(folder, port, "{ className: org.apache.tinkerpop.gremlin.driver.ser.GraphSONMessageSerializerV3d0 }",
    ["org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin", "org.apache.tinkerpop.gremlin.tinkergraph.jsr223.TinkerGraphGremlinPlugin"]);
  return start("org.apache.tinkerpop.gremlin.server.GremlinServer", path, folder, port);
}

export async function startJanusGraph(folder) {
  const path = await classPath(folder, [["org.janusgraph", "janusgraph-server", "1.1.0"], ["org.janusgraph", "janusgraph-berkeleyje", "1.1.0"],
    ["org.slf4j", "slf4j-simple", "1.7.36"]], [["org.apache.commons", "commons-lang3", "3.17.0"]]);
  const port = await freePort();
  writeFileSync(`${folder}/graph.properties`, `gremlin.graph=org.janusgraph.core.JanusGraphFactory
storage.backend=berkeleyje
storage.directory=${folder}/data
`);
  writeFileSync(`${folder}/start.groovy`, `def management = graph.openManagement()
['code', 'name'].each {
  def made = management.makePropertyKey(it).dataType(String.class).make()
  management.buildIndex('by_' + it, Vertex.class).addKey(made).buildCompositeIndex()
}
management.commit()
def globals = [g: graph.traversal()]
globals
`);
  settings(folder, port, "{ className: org.apache.tinkerpop.gremlin.util.ser.GraphSONMessageSerializerV3, " +
    "config: { ioRegistries: [org.janusgraph.graphdb.tinkerpop.JanusGraphIoRegistry] } }",
    ["org.janusgraph.graphdb.tinkerpop.plugin.JanusGraphGremlinPlugin", "org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin"]);
  return start("org.janusgraph.graphdb.server.JanusGraphServer", path, folder, port);
}

async function start(main, path, folder, port) {
  const started = launch("sh", ["-c", 'exec java -Xmx4g -cp "$0" "$1" "$2" 2>&1', path, main, `${folder}/server.yaml`], "hannel started at port", port);
  const daemon = await within(started, 120, () => `${main} to start`);
  daemon.url = `ws://127.0.0.1:${port}/gremlin`;
  return daemon;
}
