import { chmod } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const BUSY = 5
const POLL_MS = 10

/**
 * Runs `work` while no other process, and no other caller in this one, runs theirs on `path`.
 *
 * Node has no file locks, SQLite has. The kernel releases such a lock when its holder dies, however
 * it dies, so there is never a stale lock.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    // A user who can read the file could lock it.
    await chmod(path, 0o600)
    while (!tryLock(file)) await sleep(POLL_MS)
    return await work()
  } finally {
    file.close()
  }
}

function tryLock(file: DatabaseSync): boolean {
  try {
    // Nothing is ever written, so there need not be a journal file.
    file.exec('pragma journal_mode = memory; begin exclusive')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return false
    throw error
  }
}
