// Where one is. All of it is in the fragment: names, ids and queries reach no log, and a link to
// them can be shared.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  parts: string[]; // decoded: data, shop, orders, items
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return {
    parts: path.split("/").filter(Boolean).map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    }),
    query: new URLSearchParams(query),
  };
}

export function link(parts: string[], query: Record<string, string | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") params.set(name, value);
  const text = params.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export const go = (parts: string[], query: Record<string, string | undefined> = {}) => {
  location.hash = link(parts, query);
};

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    changed(); // an effect runs after painting: the address may have changed since the first look
    return () => removeEventListener("hashchange", changed);
  }, []);
  return parse(hash);
}
