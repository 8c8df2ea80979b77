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

/** The system's own; on a Debian that we may change, one that is fetched. */
export function findChromium(): string | undefined {
  const there = () =>
    [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path && existsSync(path))
  const found = there()
  if (found !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return found
  const options = {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  } as const
  spawnSync('apt-get', ['update', '-q'], options)
  const patiently = ['-o', 'DPkg::Lock::Timeout=300']
  spawnSync(
    'apt-get',
    ['install', '-qy', ...patiently, '--no-install-recommends', 'chromium'],
    options,
  )
  return there()
}

function requireChromium(): string {
  const found = findChromium()
  if (found === undefined) throw new Error(ADVICE)
  return found
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: requireChromium(),
    // Root has no sandbox to give, and a small machine little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
