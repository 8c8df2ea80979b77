import type { House } from '../house.ts'
import { codeKeys } from './card-code.ts'

export const openGiftCards = ({ key, limits }: House) => ({
  keys: codeKeys(key),
  idempotencyKey: key('idempotency fingerprint'),
  limits,
})
