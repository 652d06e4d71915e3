import type { Container } from "../lib/api"; export const Policies = (_: { db?: string; container?: Container }) => <div class="page" />;
