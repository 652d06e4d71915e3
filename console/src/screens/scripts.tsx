import type { Container } from "../lib/api"; export const Scripts = (_: { db?: string; container?: Container }) => <div class="page" />;
