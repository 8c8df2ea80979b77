import type { House, ServingHouse } from '../house.ts'
import type { MediaDeps } from './service.ts'

const MB = 1_024 * 1_024

export const openMedia = ({
  config,
  blobs,
  images,
  assetBase,
}: Pick<House, 'config' | 'blobs' | 'images'> & Pick<ServingHouse, 'assetBase'>): MediaDeps => ({
  blobs,
  images,
  bytesPerStore: config.MEDIA_MB_PER_STORE * MB,
  assetBase,
})

/** Opens the deps of routes that take uploads. */
export const openUploads = (house: ServingHouse) => ({
  ...openMedia(house),
  pendingUploads: house.pendingUploads,
})
