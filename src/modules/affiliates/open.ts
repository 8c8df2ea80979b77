import type { House } from '../house.ts'
import { openLook } from '../sites/open.ts'

export const openAffiliates = (house: House) => ({
  ...openLook(house),
  keys: { account: house.key('affiliate account') },
  linkKey: house.key('affiliate link'),
  touchKey: house.key('referral touch'),
  confirmKey: house.key('erasure confirmation'),
  idempotencyKey: house.key('idempotency fingerprint'),
  limits: house.limits,
})
