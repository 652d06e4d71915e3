// A real Chromium for a test file, and a page that is watched: whatever it logs as an error, and
// every request that leaves the server, fails the test at the end.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import puppeteer from "puppeteer-core";

export const chromium = process.env.CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

// Reached only by what is stuck, on a busy machine too.
const within_ms = Number(process.env.CONSOLE_TEST_MS ?? 60_000);

export async function launch() {
  const folder = mkdtempSync(join(tmpdir(), "orrery-chromium-"));
  const browser = await puppeteer.launch({
    executablePath: chromium, headless: true, userDataDir: folder, timeout: within_ms, protocolTimeout: within_ms,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio"],
  });
  browser.folder = folder;
  return browser;
}

// Inside describe(): one browser; each page has cookies of its own.
export function withBrowser() {
  const at = {};
  const contexts = [];
  before(async () => {
    at.browser = await launch();
  });
  after(async () => {
    for (const context of contexts) await context.close().catch(() => {});
    await at.browser?.close();
    if (at.browser) rmSync(at.browser.folder, { recursive: true, force: true });
  });
  at.page = async (server, options = {}) => {
    const context = options.context ?? (await at.browser.createBrowserContext());
    contexts.push(context);
    return new WatchedPage(await context.newPage(), server, context).start(options);
  };
  return at;
}

export class WatchedPage {
  constructor(page, server, context) {
    this.page = page;
    this.server = server;
    this.context = context;
    this.errors = [];
    this.elsewhere = [];
    this.urls = [];
  }

  async start({ width = 1280, height = 800, phone = false, dark = false, over = "http" } = {}) {
    const { page } = this;
    this.origin = over === "https" ? this.server.httpsUrl : this.server.url;
    page.setDefaultTimeout(within_ms);
    await page.setViewport({ width, height, isMobile: phone, hasTouch: phone });
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    page.on("console", (message) => {
      // An answer that is no success is logged by the browser: the tests ask for some.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) this.errors.push(message.text());
    });
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("request", (request) => {
      this.urls.push(request.url());
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${this.origin}/`)) this.elsewhere.push(request.url());
    });
    return this;
  }

  // `hash`: the part of the address after #.
  async open(hash = "") {
    await this.page.goto(`${this.origin}/console/${hash ? `#${hash}` : ""}`, { waitUntil: "load" });
    return this;
  }

  async go(hash) {
    await this.page.evaluate((to) => { location.hash = to; }, hash);
  }

  async signIn(key) {
    if (key === undefined) return this.press("Open the console");
    await this.page.waitForSelector("#key");
    await this.page.type("#key", key);
    await this.press("Sign in with the key");
  }

  // The button or link that says or is called this, once it can be used.
  async press(name, role = "button") {
    const found = await this.page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`, { visible: true });
    await this.page.waitForFunction((one) => !one.disabled, {}, found);
    await found.evaluate((one) => one.scrollIntoView({ block: "center" }));
    await found.evaluate((one) => one.click());
  }

  async field(label, text) {
    const found = await this.page.waitForSelector(`::-p-aria([name="${label}"])`, { visible: true });
    await found.evaluate((one, value) => {
      one.focus();
      const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one), "value").set;
      set.call(one, value);
      one.dispatchEvent(new Event("input", { bubbles: true }));
      one.dispatchEvent(new Event("change", { bubbles: true }));
    }, text);
  }

  // Puts text into a code editor, which is in a shadow root, as a person would: by the keyboard, once
  // it takes text (what it shows may still be on its way from the server).
  async edit(label, text) {
    const editor = await this.editor(label);
    await this.page.waitForFunction((one) => one.isConnected && one.getAttribute("aria-readonly") !== "true", {}, editor);
    await editor.focus();
    await this.page.keyboard.down("Control");
    await this.page.keyboard.press("a");
    await this.page.keyboard.up("Control");
    await this.page.keyboard.press("Delete");
    await this.page.evaluate((value) => document.execCommand("insertText", false, value), text);
    await this.page.waitForFunction((one, value) => one.innerText.replace(/\s/g, "").length >= value.replace(/\s/g, "").length, {}, editor, text);
  }

  async editor(label) {
    const handle = await this.page.waitForFunction((name) => {
      for (const host of document.querySelectorAll(".editor > div")) {
        const content = host.shadowRoot?.querySelector(".cm-content");
        if (content?.getAttribute("aria-label")?.includes(name)) return content;
      }
      return null;
    }, {}, label);
    return handle.asElement();
  }

  async editorText(label) {
    return (await this.editor(label)).evaluate((one) => [...one.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));
  }

  // Waits until the page says this.
  async says(pattern, selector = "body") {
    const source = pattern instanceof RegExp ? pattern.source : pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    try {
      await this.page.waitForFunction((text, where) => new RegExp(text, "i").test(document.querySelector(where)?.innerText ?? ""), {}, source, selector);
    } catch {
      assert.fail(`the page does not say ${pattern}; it says:\n${await this.text(selector)}`);
    }
  }

  text(selector = "body") {
    return this.page.evaluate((where) => document.querySelector(where)?.innerText ?? "", selector);
  }

  // Nothing went wrong, nothing left the machine, and no key is in an address or kept.
  async isClean(keys = []) {
    assert.deepEqual(this.errors, []);
    assert.deepEqual(this.elsewhere, []);
    const kept = await this.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
    for (const key of keys) {
      assert.ok(!kept.includes(key), "a key is kept in the browser");
      for (const url of this.urls) assert.ok(!url.includes(key) && !url.includes(encodeURIComponent(key)), `a key is in ${url}`);
    }
  }
}
