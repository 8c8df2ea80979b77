import type { Address } from '../../documents/schema.ts'

/** Where a parcel is, as its carrier says. Each comes after the one before; the last two are ends. */
export const PROGRESS = ['in_transit', 'delivered', 'returned'] as const
export type Progress = (typeof PROGRESS)[number]

/** A parcel as a carrier needs to know it. */
export interface CarrierParcel {
  from: readonly string[]
  to: Address
  weight_grams: number
  currency: string
  /** Printed on the label, for the person who packs. */
  note: string
}

export interface SoldLabel {
  tracking_number: string
  tracking_url: string | null
  cost_cents: number
  currency: string
}

/** What an event of a carrier is about: the label, and what it says of it. */
export interface CarrierEvent {
  ref: string
  progress: Progress
  at: string
}
