import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Installed services do not start by themselves. Waits for another apt that is running. */
const INSTALL = `
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get update -qq
  apt-get install -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends "$0"`

/** Installs a package, on a Debian that we may change. Elsewhere, and offline, it does nothing. */
export async function installPackage(name: string): Promise<void> {
  const isOurs = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (!isOurs || onPath('apt-get') === null || onPath('flock') === null) return
  // Two installations at the same time would disturb each other.
  const lock = join(tmpdir(), 'install.lock')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('flock', [lock, 'sh', '-c', INSTALL, name], { timeout: 600_000, env }).catch(() => {})
}

export function onPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}
