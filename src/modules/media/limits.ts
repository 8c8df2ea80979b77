import type { Db } from '../../db/database.ts'
import type { Bound, LimitSettings, OwnLimit } from '../face-parts.ts'
import { ASSET_BYTES_MAX, FONT_BYTES_MAX } from './schema.ts'
import { readUsedBytes } from './service.ts'

export const bounds: readonly Bound[] = [
  { limit: 'asset_bytes', description: 'Bytes of an uploaded image.', max: ASSET_BYTES_MAX },
  { limit: 'font_bytes', description: 'Bytes of an uploaded web font.', max: FONT_BYTES_MAX },
]

export const readOwn = async (db: Db, { mediaBytesMax }: LimitSettings): Promise<OwnLimit> => ({
  limit: 'media_bytes',
  description: 'Bytes of images, deleted ones included for 30 days.',
  used: await readUsedBytes(db),
  max: mediaBytesMax,
})
