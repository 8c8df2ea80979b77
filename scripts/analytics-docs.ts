import { fileURLToPath } from 'node:url'
import {
  COUNTS,
  DEFINITION_VERSION,
  type Definition,
  FIGURES,
  QUOTIENTS,
} from '../src/modules/analytics/definition-schema.ts'
import { writeOrCheck } from './compare.ts'

/** Writes docs/reference/analytics.md from the definitions of the figures. `--check` only compares. */

const rowOf = ([name, { title, meaning, ledger = '' }]: [string, Definition]): string =>
  `| \`${name}\` | ${title} | ${meaning} | ${ledger} |`

const table = (definitions: Record<string, Definition>): string =>
  [
    '| Field | Name | Meaning | In the ledger |',
    '|---|---|---|---|',
    ...Object.entries(definitions).map(rowOf),
  ].join('\n')

const text = `# Analytics

What a merchant reads under \`/v1/merchant/analytics/\` with the scope \`manage:own_analytics\`. This page is written by
\`npm run analytics-docs\` from \`src/modules/analytics/definition-schema.ts\`, from which the fields of the API are made, too. Version of the
definitions: ${DEFINITION_VERSION} (\`definition_version\`).

| Report | |
|---|---|
| \`summary\` | sales in all and by day, week or month; \`compare=previous\` adds the period before |
| \`sales\` | the same by \`group_by\`: product, variant, collection, coupon, affiliate, source; \`key\` chooses one group |
| \`customers\` | new and returning customers, and cohorts by the month of the first order |
| \`tax\` | tax and sales by country and state |
| \`payments\` | payment attempts by outcome and reason |
| \`subscriptions\` | what subscriptions bring in, how many began and ended |
| \`inventory\` | how well tracked variants sold, how long the rest lasts, what they earned |
| \`funnel\` | what shoppers did before they bought |

Each report is a table with \`.csv\` after its path, or by \`Accept: text/csv\`. A table is whole: that of groups ends with a line for
what is in none of them (\`(rest)\`) where there is such, and that of inventory has every tracked variant.

## Days

\`from\` and \`to\` are days of the store's time zone, both included; the default is the last 30 days, the longest period three
years. A day begins at its own midnight, so that the days of a clock change have 23 and 25 hours.

A refund can count in two ways. By default (\`calendar=booked\`) it counts on the day on which it was made, as in the books: a
day that is over does not change any more. With \`calendar=cohort\` it counts on the day of the refunded sale, so that a day
shows what became of its sales. The two are never mixed.

\`as_of\` is the time up to which the ledger is counted, at most 30 seconds behind the orders while a worker runs, and \`final_until\` the last day whose figures do not change any more. Of
payments and recovered renewals it is the day before the first attempt whose outcome is still looked up. Some figures belong to no day, as
they show the present: stock on hand and its cost, running subscriptions, and the reports of coupons and campaigns. A fact that is counted
after its day was final changes that day; \`restated_from\` is then the first such day of the period, and \`restated_at\` the time
of the last such change. Orders that an operator flags as tests are taken out of all figures.

## The rows behind a figure

Every figure has a \`drilldown.href\`. It lists rows, page by page, whose \`amount_cents\` add up to the figure. Where
the figure is a count, \`amount_cents\` is not money: a row adds 1, or of \`units_count\` its units. Buckets, groups and cohorts have one address for all their figures: add \`&figure=\` and its name; of
payments \`&outcome=\`, of the funnel \`&type=\`. The rows of a cohort are all of its rows up to now, whatever the period.

These have no rows of their own: \`rest\`, which is the figures less the groups; quotients; and \`cost_cents\` of inventory, which is units
sold by their average cost. \`on_hand\` is the stock of the present: \`levels_href\` has it by location.

Groups by product, variant and collection have the lines of orders. What belongs to no line, such as shipping, has an empty key. Orders and
customers belong to no product: their counts are 0 there. A product counts in every collection that it is in today, so
that collections do not add up.

Groups by affiliate are those of codes: the code that an order is credited to, or that it was placed with. An affiliate with several codes
has a group for each, and all of them have the name of the affiliate as their label.

## Figures that add up

${table(FIGURES)}

## Counts of other rows

${table(COUNTS)}

## Quotients

They do not add up, so they have no rows: the figures that they are made of have.

${table(QUOTIENTS)}

## The funnel

A storefront sends what shoppers do from its server: \`POST /v1/tenants/{tenant}/funnel\` with
\`{"events": [{"type": "view", "product_id": "..."}]}\`, up to 100 events in a call. The platform adds them to the counts of the
day and keeps nothing else: no address, no cookie, no session. So the counts are of pages and not of people. A product that the
store does not have is counted as none. \`paid\` comes from captured orders. The counts are kept for \`RETENTION_FUNNEL_DAYS\`.
`

await writeOrCheck(
  fileURLToPath(new URL('../docs/reference/analytics.md', import.meta.url)),
  text,
  process.argv.slice(2),
)
