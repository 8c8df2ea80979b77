import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const ADVICE =
  'the browser tests need Chromium: install it (Debian: apt-get install chromium), or name one in CHROMIUM'

/** The system's own; on a Debian that we may change, one that is fetched; else one clear line. */
function findChromium(): string {
  const there = () =>
    [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path && existsSync(path))
  const found = there()
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const options = {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    } as const
    spawnSync('apt-get', ['update', '-q'], options)
    spawnSync('apt-get', ['install', '-qy', '--no-install-recommends', 'chromium'], options)
  }
  const installed = there()
  if (installed === undefined) throw new Error(ADVICE)
  return installed
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium(),
    // Root has no sandbox to give, and a small machine little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
