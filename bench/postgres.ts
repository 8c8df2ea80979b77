import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/** The kernel counts in hundredths of a second, whatever the machine. */
const TICKS_PER_SECOND = 100

/** Finds the main process of the server; its other processes are the children of that. */
export async function findServerPid(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`select pg_read_file('postmaster.pid') as text`)
    return Number.parseInt(rows[0].text, 10)
  } finally {
    await client.end()
  }
}

/** Returns the CPU that the server and all its backends have used so far; null where there is no /proc. */
export async function serverCpuSeconds(pid: number): Promise<number | null> {
  const own = await readStat(pid)
  if (own === null) return null
  const others = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(others.map(readStat))
  const children = stats.filter((each) => each?.parent === pid)
  const ticks = children.reduce((sum, each) => sum + (each?.ticks ?? 0), own.ticks + own.reaped)
  return ticks / TICKS_PER_SECOND
}

/** Returns the CPU that one process has used so far; null where it has ended. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readStat(pid)
  return stat === null ? null : stat.ticks / TICKS_PER_SECOND
}

async function readStat(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The name before it, in brackets, may have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent = 0, user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = [
    1, 11, 12, 13, 14,
  ].map((at) => Number(fields[at]))
  return { parent, ticks: user + system, reaped: reapedUser + reapedSystem }
}
