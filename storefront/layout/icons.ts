import { type Html, trusted } from './html.ts'

/** Icons of 24 by 24 units, in the colour of their text. They are decoration: a text beside each has its meaning. */
const icon = (paths: string, size = 22): Html =>
  trusted(
    `<svg class="icon" viewBox="0 0 24 24" width="${size}" height="${size}" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  )

export const SEARCH_ICON = icon('<circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5"/>')
export const CART_ICON = icon(
  '<path d="M5.5 8h13l1 12.5h-15z"/><path d="M8.5 10.5V7a3.5 3.5 0 0 1 7 0v3.5"/>',
)
export const MENU_ICON = icon('<path d="M3.5 7h17M3.5 12h17M3.5 17h17"/>')
export const CLOSE_ICON = icon('<path d="m6 6 12 12M18 6 6 18"/>')
export const FILTER_ICON = icon(
  '<path d="M4 7h9m5 0h2M4 17h2m5 0h9"/><circle cx="15.5" cy="7" r="2.5"/><circle cx="8.5" cy="17" r="2.5"/>',
)
export const PLUS_ICON = icon('<path d="M12 6v12M6 12h12"/>', 18)
export const MINUS_ICON = icon('<path d="M6 12h12"/>', 18)
