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
    subscription_upcoming: {
      subject: ({ item, store }) => `Ihre nächste Lieferung von ${item} – ${store}`,
      heading: 'Ihr Abonnement verlängert sich bald',
      intro: ({ item, date, amount }) =>
        `Ihr Abonnement von ${item} verlängert sich am ${date}. Wir buchen dann ${amount} von Ihrer Karte ab. Bis dahin können Sie es ändern, aussetzen oder beenden.`,
    },
    subscription_price_changed: {
      subject: ({ store }) => `Der Preis Ihres Abonnements ändert sich – ${store}`,
      heading: 'Der Preis Ihres Abonnements ändert sich',
      intro: ({ item, date, amount }) =>
        `Ihr Abonnement von ${item} verlängert sich am ${date}. Der Preis hat sich geändert: Wir buchen dann ${amount} von Ihrer Karte ab. Sind Sie nicht einverstanden, können Sie es bis dahin beenden.`,
    },
    subscription_payment_failed: {
      subject: ({ item, store }) =>
        `Ihre Karte konnte für ${item} nicht belastet werden – ${store}`,
      heading: 'Ihre Zahlung ist fehlgeschlagen',
      intro: ({ item, date }) =>
        date === ''
          ? `Wir konnten Ihre Karte für Ihr Abonnement von ${item} nicht belasten und versuchen es mit ihr nicht mehr. Hinterlegen Sie eine andere Karte, damit es weitergeht.`
          : `Wir konnten Ihre Karte für Ihr Abonnement von ${item} nicht belasten. Wir versuchen es am ${date} noch einmal. Bis dahin können Sie eine andere Karte hinterlegen.`,
    },
    subscription_last_attempt: {
      subject: ({ item, store }) =>
        `Letzter Versuch, Ihre Karte für ${item} zu belasten – ${store}`,
      heading: 'Wir versuchen es ein letztes Mal',
      intro: ({ item, date }) =>
        `Wir konnten Ihre Karte für Ihr Abonnement von ${item} wieder nicht belasten. Am ${date} versuchen wir es ein letztes Mal. Hinterlegen Sie eine andere Karte, damit Ihr Abonnement weitergeht.`,
    },
    subscription_recovered: {
      subject: ({ item, store }) => `Ihre Zahlung für ${item} ist eingegangen – ${store}`,
      heading: 'Ihre Zahlung ist eingegangen',
      intro: ({ item }) => `Vielen Dank: Ihr Abonnement von ${item} geht weiter wie bisher.`,
    },
    subscription_paused: {
      subject: ({ item, store }) => `Ihr Abonnement von ${item} ist unterbrochen – ${store}`,
      heading: 'Ihr Abonnement ist unterbrochen',
      intro: ({ item }) =>
        `Ihr Abonnement von ${item} ist unterbrochen. Bis es weitergeht, wird nichts abgebucht.`,
    },
    subscription_cancelled: {
      subject: ({ item, store }) => `Ihr Abonnement von ${item} ist beendet – ${store}`,
      heading: 'Ihr Abonnement ist beendet',
      intro: ({ item }) =>
        `Ihr Abonnement von ${item} ist beendet. Es wird nichts mehr dafür abgebucht.`,
    },
    subscription_card_expiring: {
      subject: ({ store }) => `Ihre Karte läuft bald ab – ${store}`,
      heading: 'Ihre Karte läuft bald ab',
      intro: ({ item, date }) =>
        `Die Karte Ihres Abonnements von ${item} kann noch bis ${date} belastet werden. Hinterlegen Sie vorher eine andere, damit Ihr Abonnement weitergeht.`,
    },
    payment_request: {
      subject: ({ order, amount, store }) =>
        `Bitte zahlen Sie ${amount} für Bestellung ${order} – ${store}`,
      heading: 'Eine Zahlung fehlt noch',
      intro: ({ order, amount }) =>
        `Ihre neuen Artikel der Bestellung ${order} sind reserviert. Ihre Rücksendung deckt sie nicht ganz: Bitte zahlen Sie den Rest von ${amount}. Bis dahin wird nichts abgebucht.`,
    },
  },
  giftCardsIntro:
    'Ihre Bestellung und Ihre Zahlung sind bei uns eingegangen. Ihr Gutschein kommt per E-Mail: sofort, oder an dem Tag, den Sie dafür gewählt haben.',
  correctionIntro: ({ order, amount }) =>
    `Ihre Bestellung ${order} geht jetzt an eine andere Adresse und kostet dort ${amount} mehr. Bitte zahlen Sie den Betrag: Danach geht die Bestellung auf den Weg. Bis dahin wird nichts abgebucht.`,
  alreadyPaid: 'Bereits bezahlt',
  orderNumber: (order) => `Bestellung ${order}`,
  viewOrder: 'Bestellung ansehen',
  visitStore: 'Zum Shop',
  payNow: 'Jetzt bezahlen',
  trackParcel: 'Paket verfolgen',
  printLabel: 'Etikett drucken',
  orderSummary: 'Ihre Bestellung',
  inThisParcel: 'In diesem Paket',
  returnedItems: 'Artikel dieser Rücksendung',
  moreToCome:
    'Der Rest Ihrer Bestellung kommt in einem weiteren Paket. Wir schreiben Ihnen dann wieder.',
  subscribed: ({ item, date }) =>
    `Sie haben ${item} abonniert.${date === '' ? '' : ` Die nächste Lieferung wird am ${date} berechnet.`}`,
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
  fromReturn: 'Durch Ihre Rücksendung bezahlt',
  toPay: 'Zu zahlen',
  payUntil: (date) => `Bitte zahlen Sie bis zum ${date}. Danach wird die Bestellung storniert.`,
  shipsTo: 'Lieferadresse',
  paidWith: 'Bezahlt mit',
  carrier: 'Paketdienst',
  trackingNumber: 'Sendungsnummer',
  manageSubscription: 'Abonnement öffnen',
  updateCard: 'Andere Karte hinterlegen',
  subscription: 'Abonnement',
  amount: 'Betrag',
  card: 'Karte',
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
  subscriptionLinkNote: (days) =>
    `Der Link zu Ihrem Abonnement gilt ${days} Tage. Wer ihn hat, kann das Abonnement ändern: Geben Sie ihn nicht weiter.`,
  questions: (email) => `Fragen? Antworten Sie auf diese E-Mail oder schreiben Sie an ${email}.`,
  why: (store) => `Sie erhalten diese E-Mail, weil Sie bei ${store} bestellt haben.`,
  whyGiftCard: (store) =>
    `Sie erhalten diese E-Mail, weil ein Gutschein von ${store} für diese Adresse ausgestellt wurde.`,
  whySubscription: (store) =>
    `Sie erhalten diese E-Mail, weil Sie bei ${store} ein Abonnement haben.`,
}
