import type { BuyingTexts } from './en-buying.ts'

export const deBuying: BuyingTexts = {
  lowestPrice: (price) => `Niedrigster Preis der letzten 30 Tage: ${price}`,
  plan: 'Wie oft',
  once: 'Einmal',
  repeated: (rhythm) => `Abonnement, ${rhythm}`,
  save: (percent) => `${percent} sparen`,
  delivery: (price, shipping, isTaxed) =>
    [
      `Jede Lieferung: ${price}`,
      shipping === null ? 'versandkostenfrei' : `zuzüglich ${shipping} Versand`,
    ]
      .join(' ')
      .concat(isTaxed ? ' und Steuern.' : '.'),
  nextDates: (dates) =>
    `Die erste Lieferung ist diese Bestellung; die nächsten werden am ${dates} berechnet.`,
  anyTime: 'Jederzeit ändern, pausieren oder kündigen.',
  toOnce: 'Doch nur einmal kaufen',
  toRepeated: (every) => `Stattdessen ${every} liefern`,
  agreed: (what) =>
    `Sie abonnieren ${what}. Ihre Karte wird für jede Lieferung erneut belastet, bis Sie kündigen.`,
  confirmationTo: (email) => `E-Mails zu dieser Bestellung gehen an ${email}.`,
  subscribedTo: (what) => `Sie haben ${what} abonniert.`,
  nextDelivery: (date) => `Die nächste Lieferung wird am ${date} berechnet.`,
  manage: 'Abonnement ändern, pausieren oder kündigen',
  giftCardsAside: 'Gutscheine zählen dabei nicht mit.',
  giftCardsPayNone: 'Gutscheine lassen sich nicht mit Gutscheinen oder Guthaben bezahlen.',
}
