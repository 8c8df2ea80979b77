import type { House } from '../house.ts'
import type { LookDeps } from './mail-look.ts'

/** Opens the deps of how a store looks in its mails. */
export const openLook = ({
  config: { ASSET_BASE_URL, PUBLIC_URL },
  storefrontUrl,
}: Pick<House, 'config' | 'storefrontUrl'>): LookDeps => ({
  storefrontUrl,
  assetBase: ASSET_BASE_URL || PUBLIC_URL || null,
})
