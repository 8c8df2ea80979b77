import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { installPackage } from './debian.ts'

/**
 * The browser without its window comes first. The whole Chromium loads its address bar for every
 * window that a test opens, which takes nine times the processor.
 */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
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

/** The Chromium of the system; on a Debian that we may change, one that is installed. */
export async function findChromium(): Promise<string | null> {
  for (const name of ['chromium-headless-shell', 'chromium']) {
    const found = there()
    if (found !== null) return found
    await installPackage(name)
  }
  return there()
}

const there = (): string | null =>
  [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path && existsSync(path)) ?? null

export async function launchChromium(): Promise<Browser> {
  const executablePath = await findChromium()
  if (executablePath === null) throw new Error(ADVICE)
  return chromium.launch({
    executablePath,
    // The sandbox does not work for root, and a small machine has little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
}
