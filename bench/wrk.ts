import { installPackage, onPath } from '../test/harness/debian.ts'

const ADVICE = `wrk is missing, which sends the requests of these figures. Install it and run this again:

  Debian, Ubuntu   sudo apt-get install wrk
  macOS            brew install wrk
  elsewhere        build https://github.com/wg/wrk and put it on the PATH

As root on Debian or Ubuntu, with a network, it is installed without asking.
`

/** What these figures need is not here. Its message says how to get it. */
export class WrkMissing extends Error {}

/** Finds `wrk`, or installs it where the machine is ours to change. Otherwise says how to get it. */
export async function requireWrk(): Promise<void> {
  if (onPath('wrk') !== null) return
  process.stdout.write('wrk is missing: trying to install it\n')
  await installPackage('wrk')
  if (onPath('wrk') === null) throw new WrkMissing(ADVICE)
}
