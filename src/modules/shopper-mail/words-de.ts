import type { Words } from './words-schema.ts'

export const de: Words = {
  kinds: {
    order_placed: {
      subject: ({ order, store }) => `Bestellung ${order} bestätigt – ${store}`,
      heading: 'Vielen Dank für Ihre Bestellung',
      intro: () =>
        'Ihre Bestellung und Ihre Zahlung sind bei uns eingegangen; wir machen sie jetzt fertig. Sobald sie unterwegs ist, schreiben wir Ihnen.',
    },
    order_held: {
      subject: ({ order, store }) => `Wir prüfen Bestellung ${order} – ${store}`,
      heading: 'Wir prüfen Ihre Zahlung',
      intro: () =>
        'Ihre Bestellung ist eingegangen. Wir prüfen die Zahlung, bevor es weitergeht. Sie müssen nichts tun: Wir schreiben Ihnen, sobald das erledigt ist.',
    },
    order_shipped: {
      subject: ({ order, store }) => `Bestellung ${order} ist unterwegs – ${store}`,
      heading: 'Ihr Paket ist unterwegs',
      intro: ({ order }) =>
        `Ein Paket Ihrer Bestellung ${order} ist dem Paketdienst übergeben worden.`,
    },
    order_delivered: {
      subject: ({ order, store }) => `Bestellung ${order} wurde zugestellt – ${store}`,
      heading: 'Ihr Paket ist angekommen',
      intro: ({ order }) =>
        `Ein Paket Ihrer Bestellung ${order} ist zugestellt worden. Viel Freude damit.`,
    },
    order_refunded: {
      subject: ({ order, store }) => `Erstattung zu Bestellung ${order} – ${store}`,
      heading: 'Sie haben eine Erstattung erhalten',
      intro: ({ order, amount }) => `Wir haben ${amount} Ihrer Bestellung ${order} erstattet.`,
    },
    order_cancelled: {
      subject: ({ order, store }) => `Bestellung ${order} wurde storniert – ${store}`,
      heading: 'Ihre Bestellung wurde storniert',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Ihre Bestellung ${order} wurde storniert. Es wurde nichts abgebucht.`
          : `Ihre Bestellung ${order} wurde storniert und ${amount} wurden erstattet.`,
    },
    order_edited: {
      subject: ({ order, store }) => `Bestellung ${order} wurde geändert – ${store}`,
      heading: 'Ihre Bestellung wurde geändert',
      intro: ({ order }) => `So sieht Ihre Bestellung ${order} jetzt aus.`,
    },
    gift_card: {
      subject: ({ amount, store }) => `Ein Gutschein über ${amount} – ${store}`,
      heading: 'Ein Gutschein für Sie',
      intro: ({ store, amount }) => `Hier ist Ihr Gutschein über ${amount} für ${store}.`,
    },
    return_approved: {
      subject: ({ order, store }) => `Ihre Rücksendung zu Bestellung ${order} – ${store}`,
      heading: 'Ihre Rücksendung ist genehmigt',
      intro: ({ order }) => `Diese Artikel Ihrer Bestellung ${order} können Sie zurücksenden.`,
    },
    return_received: {
      subject: ({ order, store }) => `Rücksendung zu Bestellung ${order} eingegangen – ${store}`,
      heading: 'Ihre Rücksendung ist angekommen',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Ihre Rücksendung zu Bestellung ${order} ist bei uns eingegangen.`
          : `Ihre Rücksendung zu Bestellung ${order} ist bei uns eingegangen; wir erstatten ${amount}.`,
    },
  },
  orderNumber: (order) => `Bestellung ${order}`,
  viewOrder: 'Bestellung ansehen',
  visitStore: 'Zum Shop',
  trackParcel: 'Paket verfolgen',
  printLabel: 'Etikett drucken',
  orderSummary: 'Ihre Bestellung',
  inThisParcel: 'In diesem Paket',
  returnedItems: 'Artikel dieser Rücksendung',
  moreToCome:
    'Der Rest Ihrer Bestellung kommt in einem weiteren Paket. Wir schreiben Ihnen dann wieder.',
  subtotal: 'Zwischensumme',
  discount: 'Rabatt',
  shipping: 'Versand',
  free: 'Kostenlos',
  tax: 'Steuer',
  taxIncluded: (rate) =>
    rate === null ? 'Darin enthaltene MwSt.' : `Darin enthaltene MwSt. (${rate})`,
  total: 'Gesamt',
  oldTotal: 'Bisher gesamt',
  charged: 'Nachträglich abgebucht',
  refunded: 'Erstattet',
  refundedTo: 'Erstattet auf',
  refundDays: 'Bis Ihre Bank die Erstattung auf eine Karte anzeigt, können einige Tage vergehen.',
  shipsTo: 'Lieferadresse',
  paidWith: 'Bezahlt mit',
  carrier: 'Paketdienst',
  trackingNumber: 'Sendungsnummer',
  instructions: 'So senden Sie zurück',
  giftCardCode: 'Ihr Code',
  giftCardBalance: 'Guthaben',
  giftCardUse:
    'Geben Sie den Code an der Kasse ein. Wer ihn hat, kann ihn einlösen: Bewahren Sie diese E-Mail auf wie Bargeld.',
  giftCardFor: (name) => `Für ${name}`,
  giftCardMessage: 'Eine Nachricht für Sie',
  validUntil: (date) => `Gültig bis ${date}`,
  tenders: { card: 'Karte', gift_card: 'Gutschein', store_credit: 'Guthaben' },
  endingIn: (name, last4) => `${name} mit Endziffern ${last4}`,
  linkNote: (days) =>
    `Der Link zu Ihrer Bestellung gilt ${days} Tage. Wer ihn hat, kann die Bestellung sehen und ändern: Geben Sie ihn nicht weiter.`,
  questions: (email) => `Fragen? Antworten Sie auf diese E-Mail oder schreiben Sie an ${email}.`,
  why: (store) => `Sie erhalten diese E-Mail, weil Sie bei ${store} bestellt haben.`,
  whyGiftCard: (store) =>
    `Sie erhalten diese E-Mail, weil ein Gutschein von ${store} für diese Adresse ausgestellt wurde.`,
}
