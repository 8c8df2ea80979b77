import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readFile, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A run writes half a gigabyte at the most; the machine should not feel it. */
const ROOM_BYTES = 2 * 1_024 ** 3
const SPARE_BYTES = 4 * 1_024 ** 3

/**
 * The folder that a whole run of the tests in `root` works in. In memory where there is room: each
 * test database is 750 files, and ext4 passes over every file that was deleted in the last minutes
 * before it makes a new one, which takes ten times as long as the copying.
 */
export async function makePlace(root: string): Promise<string> {
  const mark = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const place = join((await hasRoom()) ? MEMORY : tmpdir(), `fairdock-test-${mark}`)
  // Root starts servers as another user, who has to pass through.
  await mkdir(place, { mode: 0o711 }).catch(() => {})
  const found = await lstat(place)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${place} belongs to somebody else: remove it.`)
  }
  await chmod(place, 0o711)
  return place
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
