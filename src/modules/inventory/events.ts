import { defineEvent } from '../webhooks/define-event.ts'
import { LowStock } from './schema.ts'

export const stockLow = defineEvent('commerce.inventory.low.v1', {
  when: "An order has brought a variant's stock to its threshold.",
  data: LowStock,
})

export const events = [stockLow]
