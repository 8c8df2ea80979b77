import { randomUUID } from 'node:crypto'

/** Ids that the bodies of the generated tests name; the things are given them when they are made. */

export const VARIANT = '11111111-1111-4111-8111-111111111111'
export const ITEM = '22222222-2222-4222-8222-222222222222'
/** The line of the last return. */
export const LINE = '33333333-3333-4333-8333-333333333333'

/** A new key for each request. */
export const freshKey = () => ({ 'idempotency-key': randomUUID() })
