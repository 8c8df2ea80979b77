import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  fixtures: {
    'GET /v1/my/site/versions/:version': async (merchant) => {
      // More versions than any other store of the test has.
      for (const title of ['one', 'two', 'three']) {
        await merchant.put('/v1/my/site/draft', { manifest: { seo: { title } } })
      }
      return { version: '3' }
    },
  },
  texts: (canary) => [
    ['PUT', '/v1/my/store/manifest', { manifest: { brand: { name: canary } } }],
    ['PUT', '/v1/my/site/draft', { manifest: { seo: { [canary]: canary } } }],
  ],
  beyond: {
    site_versions: (merchant) =>
      merchant.put('/v1/my/site/draft', { manifest: { brand: { name: 'A' } } }),
    site_bytes: (merchant) =>
      merchant.put('/v1/my/site/draft', { manifest: { brand: { name: 'A' } } }),
  },
}
