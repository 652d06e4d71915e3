import type { Container } from "../lib/api"; export const Partitions = (_: { db?: string; container?: Container }) => <div class="page" />;
