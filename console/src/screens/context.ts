// What all screens of the signed-in console share: the tree of databases and containers, and the
// load of each, measured between two looks.
import { useMemo } from "preact/hooks";
import { type Container, type ContainerFigures, containerFigures, containers, databases } from "../lib/api";
import { Shared, useLoaded } from "../lib/live";

export interface TreeNode { id: string; rid: string; containers: Container[] }
export const tree = new Shared<TreeNode[] | undefined>(undefined);
export const treeError = new Shared<unknown>(undefined);

export async function reloadTree() {
  try {
    const all = await databases();
    tree.set(await Promise.all(all.map(async (one) => ({ id: one.id, rid: one._rid, containers: await containers(one.id).catch(() => []) }))));
    treeError.set(undefined);
  } catch (error) {
    treeError.set(error);
  }
}

export interface Rates { unitsPerSecond: number; throttledPerSecond: number }
export interface Figures { all: ContainerFigures[]; rates: Map<string, Rates>; total: Rates }
export const nameOf = (one: { database: string; container: string }) => `${one.database}/${one.container}`;
export const figures = new Shared<Figures | undefined>(undefined);

let before: { at: number; all: Map<string, ContainerFigures> } | undefined;
async function look() {
  const { body } = await containerFigures();
  const rates = new Map<string, Rates>();
  const total = { unitsPerSecond: 0, throttledPerSecond: 0 };
  // As the tree has them: databases of other faces are FACE:NAME.
  const all = body.containers.map((one) => (one.face === "cosmos" ? one : { ...one, database: `${one.face}:${one.database}` }));
  for (const one of all) {
    const old = before?.all.get(nameOf(one));
    const seconds = before ? (body.at - before.at) / 1000 : 0;
    const rate = old && seconds > 0
      ? { unitsPerSecond: Math.max(0, one.requestUnits - old.requestUnits) / seconds, throttledPerSecond: Math.max(0, one.throttled - old.throttled) / seconds }
      : { unitsPerSecond: 0, throttledPerSecond: 0 };
    rates.set(nameOf(one), rate);
    total.unitsPerSecond += rate.unitsPerSecond;
    total.throttledPerSecond += rate.throttledPerSecond;
  }
  before = { at: body.at, all: new Map(all.map((one) => [nameOf(one), one])) };
  figures.set({ all, rates, total });
}
export const useFigures = () => useLoaded("figures", look, 2000);
export { look as reloadFigures };

export const useContainer = (db: string, id: string): Container | undefined => {
  const all = tree.use();
  return useMemo(() => all?.find((one) => one.id === db)?.containers.find((one) => one.id === id), [all, db, id]);
};
