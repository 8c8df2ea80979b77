import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** The server process of a cluster. */
export interface Postmaster {
  pid: number
  port: number
}

const POLL_MS = 20
/** How long a stop may take: the server writes all memory to disk first. */
const STOP_SECONDS = 60

const run = promisify(execFile)

/** Finds the server that runs on the cluster now; null if no server does. Ignores a file that a dead server left. */
export async function findPostmaster(cluster: string): Promise<Postmaster | null> {
  const found = await readPidFile(cluster)
  return found && (await serves(found.pid, cluster)) ? found : null
}

/** Reads the file that the server wrote when it started, whether or not it still runs. */
export async function readPidFile(cluster: string): Promise<Postmaster | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, , , port] = text.split('\n').map(Number)
  return pid ? { pid, port: port ?? 0 } : null
}

/** Ends open transactions and stops the process, if it is the server of that cluster. */
export async function stopPostmaster({ pid }: Postmaster, cluster: string): Promise<void> {
  if (!(await serves(pid, cluster))) return
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    // The server was already stopping, and has ended meanwhile.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return
    throw error
  }
  const deadline = Date.now() + STOP_SECONDS * 1_000
  while (Date.now() < deadline && (await serves(pid, cluster))) await sleep(POLL_MS)
}

/** Whether that process is the server of that cluster, and not a later process with the same id. */
async function serves(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const said = await run('ps', ['-ww', '-o', 'command=', '-p', `${pid}`]).catch(() => null)
    return said?.stdout.includes(`/bin/postgres -D ${cluster} `) ?? false
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const [program, flag, dir] = command.split('\0')
  if (!program?.endsWith('/bin/postgres') || flag !== '-D') return false
  // The folder may have been moved after the server started.
  return dir === cluster || (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === cluster
}
