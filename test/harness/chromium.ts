import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { installPackage } from './debian.ts'

/**
 * The browser without its window. The whole Chromium draws an address bar for every window that a test
 * opens, which takes four times the processor.
 */
const WITHOUT_WINDOW = '/usr/bin/chromium-headless-shell'

const PLACES = [
  WITHOUT_WINDOW,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const ADVICE =
  'the browser tests need Chromium: install it (Debian: apt-get install chromium-headless-shell), or name one in CHROMIUM'

/**
 * The Chromium of the system. On a Debian that we may change the one without its window is installed, also
 * beside a whole one.
 */
export async function findChromium(): Promise<string | null> {
  const isNamed = Boolean(process.env.CHROMIUM)
  if (!isNamed && !existsSync(WITHOUT_WINDOW)) await installPackage('chromium-headless-shell')
  if (there() === null) await installPackage('chromium')
  return there()
}

const there = (): string | null =>
  [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path && existsSync(path)) ?? null

export async function launchChromium(): Promise<Browser> {
  // A run has looked for the best one before its tests.
  const executablePath = there() ?? (await findChromium())
  if (executablePath === null) throw new Error(ADVICE)
  return chromium.launch({
    executablePath,
    // The sandbox does not work for root, and a small machine has little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
}
