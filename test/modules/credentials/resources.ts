import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  fixtures: {
    'POST /v1/my/credentials/:id/revoke': async (merchant) => {
      const body = { label: 'a canary', scopes: ['read:own_store'] }
      const made = await merchant.post('/v1/my/credentials', body)
      return { id: made.body.credential.id }
    },
    'DELETE /v1/my/storefront-tokens/:id': async (merchant) => {
      const made = await merchant.post('/v1/my/storefront-tokens', { label: 'a canary' })
      return { id: made.body.storefront_token.id }
    },
  },
  texts: (canary) => [
    ['POST', '/v1/my/credentials', { label: canary, scopes: ['read:own_store'] }],
  ],
  rows: {
    storefront_tokens: `insert into storefront_tokens (tenant_ref, label, token_hash, hint)
                      values ($1, 'a test', sha256('x'), 'abcd')`,
  },
  beyond: {
    credentials: (merchant) =>
      merchant.post('/v1/my/credentials', { label: 'another', scopes: ['read:own_store'] }),
  },
}
