import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable } from '../../kernel/schema.ts'
import { SubscriptionRow } from './schema.ts'

const day = Type.String({ format: 'date' })

export const Forecast = Type.Object({
  from: day,
  until: Type.Unsafe<string>({
    ...day,
    description:
      'The last day that is counted in full. Earlier than asked for where more than 5,000 subscriptions are charged.',
  }),
  days: Type.Array(
    Type.Object({
      day,
      charges: Type.Integer(),
      expected: Type.Array(Type.Object({ currency: Type.String(), amount_cents: Cents })),
    }),
    { description: "Days of the store's calendar that have charges." },
  ),
  charges: Type.Integer(),
  expected: Type.Array(Type.Object({ currency: Type.String(), amount_cents: Cents })),
  stock: Type.Array(
    Type.Object({
      variant_id: Id,
      product_name: Nullable(Type.String()),
      sku: Nullable(Type.String()),
      needed: Type.Integer(),
      available: Nullable(
        Type.Integer({
          description: 'On hand and not sold yet. Null: not tracked, or backorders are allowed.',
        }),
      ),
      short: Type.Integer({ description: 'How many units are missing.' }),
      runs_out_on: Nullable(day),
    }),
  ),
})
export type Forecast = Static<typeof Forecast>

/** A subscription with its charges of some days, for the forecast. */
export const ForecastRow = Type.Object({
  ...Type.Pick(SubscriptionRow, [
    'id',
    'product_id',
    'variant_id',
    'quantity',
    'unit_price_cents',
    'prices_include_tax',
    'currency',
    'price_policy',
    'pricing',
    'next_charge_at',
    'paid_cycles',
    'max_cycles',
  ]).properties,
  days: Type.Array(Type.String()),
  next_day: Type.String(),
})
export type ForecastRow = Static<typeof ForecastRow>
