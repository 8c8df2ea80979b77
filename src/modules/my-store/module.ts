import type { Face } from '../face.ts'

export const myStore = {
  name: 'my-store',
  is: 'what a store is shown of itself: its state, its limits, what it lacks',
  uses: [
    'catalog',
    'credentials',
    'domains',
    'entitlements',
    'health-claims',
    'media',
    'sites',
    'stores',
  ],
  routes: async (house) => {
    const [{ merchantRoutes, operatorRoutes }, { openMedia }] = await Promise.all([
      import('./routes.ts'),
      import('../media/open.ts'),
    ])
    const { scanner, counted, limitFaces: limits } = house
    const mediaBytesMax = openMedia(house).bytesPerStore
    return {
      merchant: [merchantRoutes({ scanner, counted, limits, mediaBytesMax })],
      operator: [operatorRoutes],
    }
  },
} as const satisfies Face
