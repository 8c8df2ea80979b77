import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from './chromium.ts'

/** A real Chromium. Its pages must have no errors, no calls to other hosts, and be accessible. */

/** How long a browser without users waits for the next file: to start one takes a second of a processor. */
const REST_MS = 5_000

interface Shared {
  browser: Promise<Browser>
  users: number
  rest?: NodeJS.Timeout
}

let shared: Shared | null = null

/** The browser of this process. Tests do not see each other in it: each tab has a context of its own. */
export function openBrowser(t: TestContext): Promise<Browser> {
  shared ??= { browser: launchChromium(), users: 0 }
  const used = shared
  clearTimeout(used.rest)
  used.users += 1
  t.after(() => {
    used.users -= 1
    if (used.users === 0) used.rest = setTimeout(() => close(used), REST_MS)
  })
  return used.browser
}

async function close({ browser }: Shared): Promise<void> {
  shared = null
  await (await browser).close()
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Tab {
  page: Page
  /** Checks the accessibility of the page. */
  checkAccessibility(): Promise<void>
  another(): Promise<Tab>
}

/** A shopper with a separate browser. An error in it fails the test at its end. */
export async function openTab(
  t: TestContext,
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
  /**
   * Console errors that are allowed, such as those of pages that do not exist, and other origins that
   * a page may ask.
   */
  { expected = /^$/, others = [] }: { expected?: RegExp; others?: readonly string[] } = {},
): Promise<Tab> {
  const context = await browser.newContext({ ...options, baseURL: origin })
  context.setDefaultTimeout(120_000)
  const faults: string[] = []
  t.after(async () => {
    await context.close()
    assert.deepEqual(faults, [])
  })
  const open = async (): Promise<Tab> => {
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() !== 'error' || expected.test(message.text())) return
      faults.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
    page.on('request', (request) => {
      const asked = new URL(request.url()).origin
      if (asked !== origin && !others.includes(asked)) faults.push(`asked for ${request.url()}`)
    })
    return { page, another: open, checkAccessibility: () => checkAxe(page) }
  }
  return open()
}

/**
 * Lists the images of a page that are cut or drawn out of shape, by the class of the element around them.
 * The image behind the heading of a page is decoration, and may be cut. Small ones that lead to a product fill their
 * frames, since bars beside them look broken.
 */
export async function listCutImages(page: Page): Promise<string[]> {
  return (await page.evaluate(LIST_CUT_IMAGES)) as string[]
}

/**
 * An image that would be cut counts even where it has the shape of its place by chance. Browsers round
 * to pixels, so a little is allowed.
 */
const LIST_CUT_IMAGES = `(async () => {
  const cut = []
  for (const each of document.images) {
    if (each.closest('.hero-image, .card-image, .tile-image, .line-image, .suggestion-image, .thumbs') !== null || each.getClientRects().length === 0) continue
    each.loading = 'eager'
    await each.decode()
    const { width, height } = each.getBoundingClientRect()
    const { objectFit } = getComputedStyle(each)
    const hasOwnShape = Math.abs(width - (height * each.naturalWidth) / each.naturalHeight) < 2
    if (objectFit === 'contain' || (objectFit === 'fill' && hasOwnShape)) continue
    cut.push(each.closest('[class]:not(img)').className)
  }
  return [...new Set(cut)]
})()`

interface Finding {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Only violations are returned: the rest would be fifty kilobytes for every page. Style sheets are not read
 * beforehand, which none of the rules that run needs.
 */
const RUN_AXE =
  'axe.run({ resultTypes: ["violations"], preload: { assets: ["media"] } }).then(({ violations }) => violations)'

/** A drawer that slides in has the colours of both pages at once. What moves for ever is not waited for. */
const END_OF_MOVES =
  'Promise.allSettled(document.getAnimations().filter((each) => Number.isFinite(each.effect?.getComputedTiming().endTime)).map((each) => each.finished))'

async function checkAxe(page: Page): Promise<void> {
  await page.evaluate(END_OF_MOVES)
  // As text, because the page's own policy allows no other script.
  await page.evaluate(AXE)
  const found = (await page.evaluate(RUN_AXE)) as Finding[]
  const words = found.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  )
  assert.deepEqual(words, [], page.url())
}
