import type { Face } from '../face.ts'

export const sites = {
  name: 'sites',
  is: 'the manifest of the site of a store: drafts, versions, publishing',
  uses: ['claims', 'domains', 'entitlements', 'media', 'stores'],
} as const satisfies Face
