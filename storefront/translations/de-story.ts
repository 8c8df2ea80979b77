import type { StoryTexts } from './en-story.ts'

export const deStory: StoryTexts = {
  preparing: 'Wir bereiten Ihre Bestellung vor',
  preparingNext: 'Sie bekommen eine E-Mail, sobald sie unterwegs ist.',
  packed: 'Ihre Bestellung ist gepackt',
  packedNext: 'Sie geht bald auf die Reise. Dann schreiben wir Ihnen.',
  partlyShipped: 'Ein Teil Ihrer Bestellung ist unterwegs',
  partlyShippedNext: 'Der Rest folgt. Sie bekommen eine E-Mail, sobald er unterwegs ist.',
  shipped: 'Ihre Bestellung ist unterwegs',
  shippedNext: 'Sobald sie angekommen ist, steht es hier.',
  shippedWith: (carrier) => `Sie kommt mit ${carrier}.`,
  delivered: 'Ihre Bestellung ist angekommen',
  deliveredNext: 'Wir wünschen viel Freude damit.',
  deliveredUntil: (date) => `Stimmt etwas nicht? Sie können es bis zum ${date} zurücksenden.`,
  mailed: 'Per E-Mail verschickt',
  mailedLater: 'Wird per E-Mail verschickt',
  giftCard: (count) =>
    count === 1
      ? 'Ihr Gutschein ist per E-Mail unterwegs'
      : 'Ihre Gutscheine sind per E-Mail unterwegs',
  giftCardTo: (recipients) => `Empfänger: ${recipients}.`,
  giftCardToYou: 'Der Code kommt an Ihre eigene E-Mail-Adresse.',
  giftCardOn: (count, date) =>
    count === 1
      ? `Ihr Gutschein wird am ${date} verschickt`
      : `Ihre Gutscheine werden ab dem ${date} verschickt`,
  giftCardOnNext: 'Bis dahin müssen Sie nichts tun.',
  refundedNext: (amount) =>
    `${amount} wurden auf dem ursprünglichen Zahlungsweg erstattet. Bis der Betrag zu sehen ist, kann es einige Tage dauern.`,
  nothingPaid: 'Es wurde nichts abgebucht.',
  refundedOf: (amount, total) => `${amount} von ${total} erstattet`,
  refundedAll: (amount) => `${amount} erstattet`,
  change: 'Etwas ändern',
}
