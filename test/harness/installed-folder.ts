import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { emptyFolder } from './embedded.ts'
import { startProcess } from './process.ts'
import { openScope } from './scope.ts'

const run = promisify(execFile)

const INSTALLED_LOCK = 8_812_003_453

/**
 * A data folder in which the program has run before: with a database, its secrets and an empty demo
 * store. For tests that are not about the first start, which takes four seconds of a processor more.
 */
export async function installedFolder(t: TestContext): Promise<string> {
  const folder = await emptyFolder(t)
  const url = process.env.TEST_SERVER
  if (url === undefined) await install(folder)
  // By `cp`, which also keeps the user to whom the database belongs.
  else await run('cp', ['-a', `${await ensureInstalled(url)}/.`, folder])
  return folder
}

/** The folder that all others of a run are copied from. Made once, by the first process that asks for it. */
async function ensureInstalled(url: string): Promise<string> {
  const place = join(tmpdir(), 'installed')
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const { scope, end } = openScope()
  try {
    await admin.query('select pg_advisory_lock($1)', [INSTALLED_LOCK])
    if (existsSync(place)) return place
    const aside = await emptyFolder(scope)
    await install(aside)
    await rename(aside, place)
    return place
  } finally {
    await end()
    await admin.end()
  }
}

/** Starts the program in a folder, and stops it. */
async function install(dataDir: string): Promise<void> {
  const { scope, end } = openScope()
  try {
    const first = await startProcess(scope, { dataDir })
    await first.ready()
    first.kill('SIGTERM')
    await first.exit
  } finally {
    await end()
  }
}
