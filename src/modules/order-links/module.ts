import type { Face } from '../face.ts'

export const orderLinks = {
  name: 'order-links',
  is: 'links by which a shopper sees an order',
  uses: ['domains', 'orders', 'sites', 'stores'],
  routes: async (house) => {
    const [{ storefrontRoutes }, { openOrderLinks }] = await Promise.all([
      import('./routes.ts'),
      import('./open.ts'),
    ])
    return { storefront: [storefrontRoutes(openOrderLinks(house))] }
  },
} as const satisfies Face
