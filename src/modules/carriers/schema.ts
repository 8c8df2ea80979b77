import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import { CARRIER_NAMES } from './adapters/all.ts'
import { PROGRESS, type SoldLabel } from './adapters/schema.ts'

/** Rows may have the name of a carrier that only a newer process knows, so that the type is a text. */
const CarrierKey = Type.Unsafe<string>(Type.Enum([...CARRIER_NAMES]))
export type CarrierName = Static<typeof CarrierKey>

export const LABEL_STATES = ['buying', 'bought', 'refused', 'voiding', 'voided'] as const

/** The price that a carrier asks for a parcel. */
export const ShippingRate = Shared(
  'ShippingRate',
  Type.Object({
    carrier: CarrierKey,
    service: Type.String({ description: 'Names the service when a label is bought.' }),
    name: Type.String(),
    amount_cents: Cents,
    currency: Type.String(),
    days_min: Type.Integer(),
    days_max: Type.Integer(),
  }),
)
export type ShippingRate = Static<typeof ShippingRate>

/** A label that was bought of a carrier, or is being bought. */
export const ShippingLabel = Shared(
  'ShippingLabel',
  Type.Object({
    id: Id,
    fulfillment_id: Id,
    order_id: Id,
    carrier: CarrierKey,
    service: Type.String(),
    status: Type.Enum([...LABEL_STATES], {
      description: '`buying`, `voiding`: the carrier has not answered yet.',
    }),
    refusal: Nullable(Type.String({ description: 'Why the carrier has not sold it.' })),
    tracking_number: Nullable(Type.String()),
    tracking_url: Nullable(Type.String()),
    cost_cents: Nullable(Cents),
    currency: Type.String(),
    weight_grams: Type.Integer(),
    progress: Nullable(
      Type.Enum([...PROGRESS], { description: 'Where the parcel is, as the carrier says.' }),
    ),
    progress_at: Nullable(Timestamp),
    created_at: Timestamp,
    bought_at: Nullable(Timestamp),
    voided_at: Nullable(Timestamp),
    unused: Type.Boolean({
      description:
        'True: the carrier sold it after the parcel was shipped or cancelled. The parcel does not have it, and it is voided.',
    }),
  }),
)
export type ShippingLabel = Static<typeof ShippingLabel>

/** A label with the columns that are not shown. */
export const LabelRow = Type.Object({
  ...ShippingLabel.properties,
  voids_refused: Type.Integer(),
  updated_at: Timestamp,
  created_by: Type.String(),
})
export type LabelRow = Static<typeof LabelRow>

export const NewLabel = Type.Object({
  carrier: CarrierKey,
  service: Type.String({ minLength: 1, maxLength: 50 }),
})
export type NewLabel = Static<typeof NewLabel>

/** The weight of a parcel that says none, in grams. */
export const DEFAULT_WEIGHT_GRAMS = 1_000

/** A sold label as it is stored: without its numbers if its order was erased. */
export type BoughtLabel = Omit<SoldLabel, 'tracking_number'> & { tracking_number: string | null }
