import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readFile, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A run writes half a gigabyte at most. With this much free memory the machine does not suffer. */
const ROOM_BYTES = 2 * 1_024 ** 3
const SPARE_BYTES = 4 * 1_024 ** 3

/**
 * The folder of a whole run of the tests in `root`. In memory where there is room: each test
 * database has 750 files, and ext4 examines every file that was deleted in the last minutes before
 * it creates a new one, which takes ten times as long as the copying.
 */
export async function makeRunFolder(root: string): Promise<string> {
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const folder = join((await hasRoom()) ? MEMORY : tmpdir(), `fairdock-test-${digest}`)
  // Root starts servers as another user, who must be able to enter the folder.
  await mkdir(folder, { mode: 0o711 }).catch(() => {})
  const found = await lstat(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${folder} belongs to another user: remove it.`)
  }
  await chmod(folder, 0o711)
  return folder
}

async function hasRoom(): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const found = mounts.split('\n').findLast((line) => line.split(' ')[1] === MEMORY)
  const [, , type, options = ''] = found?.split(' ') ?? []
  // Servers are started from the binaries of such a folder, too.
  if (type !== 'tmpfs' || options.split(',').some((each) => each === 'noexec' || each === 'ro')) {
    return false
  }
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize >= ROOM_BYTES && freemem() >= SPARE_BYTES
}
