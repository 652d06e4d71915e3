import type { Container } from "../lib/api"; export const Metrics = (_: { db?: string; container?: Container }) => <div class="page" />;
