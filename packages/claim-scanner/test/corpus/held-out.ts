import { lines } from './lines.ts'

/**
 * A third of the corpus that no rule was written for. The rules are changed by looking at the other files alone, so
 * that this file shows how they do on new texts. Do not look at its failures in order to add words: write new texts
 * first.
 */
export const HELD_OUT_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  en: lines(`
    Knocks out joint inflammation in a week
    Your eczema clears up within days
    Wave goodbye to insomnia
    Shrinks your waistline while you sleep
    Keeps diabetes at bay
    Ends chronic knee pain
    Clinically shown to lower cholesterol
    Take one scoop every morning with water
    Users lost an average of 8 kg
    Approved by the European Medicines Agency
    Draw 0.3 ml into the syringe and inject under the skin
    My migraines have stopped completely`),
  de: lines(`
    Lässt Tumore schrumpfen
    Beugt Herzinfarkt vor
    Wirkt gegen Migräne
    Zwei Kapseln vor dem Schlafengehen einnehmen
    Vom Arzt empfohlen
    Meine Arthrose ist verschwunden
    Hilft beim Abnehmen`),
  es: lines(`
    Elimina el dolor de espalda
    Previene el cáncer de colon
    Adelgaza sin esfuerzo
    Recomendado por médicos
    Inyectar una vez al día
    Mi artrosis ha desaparecido
    Apto para consumo humano`),
  fr: lines(`
    Fait disparaître l'eczéma
    Prévient la maladie d'Alzheimer
    Brûle les graisses
    Recommandé par les médecins
    Prendre deux gélules par jour
    Mes migraines ont disparu
    Fait baisser la tension artérielle`),
  it: lines(`
    Cura il diabete
    Allevia il mal di schiena
    Ti fa dimagrire in due settimane
    Approvato dalla FDA
    Assumere una compressa al giorno
    La mia artrite è sparita
    Rimedio contro l'insonnia`),
  nl: lines(`
    Geneest diabetes
    Helpt tegen gewrichtspijn
    Val snel af zonder honger
    Goedgekeurd door de FDA
    Neem een tablet per dag
    Mijn eczeem is verdwenen
    Verlaagt de bloeddruk`),
  pl: lines(`
    Leczy cukrzycę
    Łagodzi ból stawów
    Schudnij bez diety
    Zatwierdzony przez FDA
    Przyjmować jedną tabletkę dziennie
    Moja łuszczyca zniknęła
    Zapobiega chorobom serca`),
  ru: lines(`
    Лечит диабет
    Избавляет от боли в суставах
    Сбросьте лишний вес за месяц
    Одобрено FDA
    Принимать по одной таблетке в день
    Мой псориаз прошёл
    Снижает артериальное давление`),
  zh: lines(`
    治疗糖尿病
    有效缓解关节疼痛
    快速瘦身不反弹
    经FDA批准
    每日两次，每次一粒
    我的失眠好了
    降低胆固醇`),
  ja: lines(`
    糖尿病を治療します
    関節の痛みを和らげる
    飲むだけで痩せる
    FDA承認済み
    1日2回服用してください
    不眠症が治りました
    血糖値を下げる`),
  ar: lines(`
    يعالج مرض السكري
    يخفف آلام المفاصل
    يساعد على إنقاص الوزن
    معتمد من إدارة الغذاء والدواء
    تناول كبسولة واحدة يوميا
    اختفت آلام ظهري
    يخفض ضغط الدم`),
}

/** Harmless texts of stores, in each language. */
export const HELD_OUT_HARMLESS: Readonly<Record<string, readonly string[]>> = {
  en: lines(`
    Wound healing assay plate, 24 wells, with 0.9 mm gap inserts
    Weight loss of the carton after drying is below two per cent
    Mouse monoclonal antibody against human collagen type I
    Cell culture treated flasks with vented caps
    The pill-shaped bottle fits any cup holder
    Stress relief grommets for power cords
    A literature review of sleep research, hardcover
    Fat-free ink for letterpress printing
    Anti-fatigue mat for standing desks
    Pain relief was the theme of the 1912 advertising posters in this book
    Bamboo shelf that takes the weight off your floor
    Back support cushion with removable cover
    Skin-friendly cotton, printed with water-based ink
    Body lotion with almond oil and a light scent
    Hand cream in a recycled aluminium tube, 50 ml
    Cleanser that removes make-up and rinses off with water
    Protein pancake mix, 500 g, with oat flour
    Two tea bags per pot, steep for five minutes
    Serve one scoop of gelato per cone
    Slim wallet for six cards
    Anti-slip tablet stand
    Injection-moulded cable clips, pack of 100
    Prevents cable strain at the plug
    Reduces swelling of the door in wet weather
    Muscle anatomy poster for classrooms
    A history of the cure houses of the Alps
    Diet of worms: a satirical calendar
    Calms the surface of the water for photographers
    Treats for cats, salmon flavour, 60 g
    Doctor's bag in vintage leather
    Patient information leaflets printed on 60 gsm paper
    Drop-in replacement for 20 kg kettlebells
    Burn wood, not gas: our stoves
    Headache rack for pickup trucks
    Cold room panels, 80 mm
    Rat tail comb with steel handle
    Sleeping pad with an insulation value of four
    The mattress ships compressed and recovers its shape within a day
    Aging tags for cheese cellars
    Healing garden poster, unframed`),
  de: lines(`
    Behandeln Sie das Holz einmal im Jahr mit Leinöl
    Kapselmaschine für Espresso, zwei Tassen auf einmal
    Gewicht: 2 kg, nimmt bis zu 30 kg auf
    Krebs-Sternzeichen Anhänger aus Silber
    Schmerzlos gekündigt: das Abo endet mit einem Klick
    Verhindert Kalkablagerungen im Wasserkocher
    Handcreme mit Mandelöl, dezenter Duft
    Nur für Forschungszwecke, nicht für den menschlichen Verzehr`),
  es: lines(`
    Queso curado de oveja, 500 g
    Trata la madera con aceite una vez al año
    Cápsulas de café compatibles, caja de 50
    Peso neto 250 g
    Reduce el ruido y el estrés de la oficina
    Crema de manos con aceite de oliva
    Cura el embutido durante seis meses en bodega
    No apto para consumo humano`),
  fr: lines(`
    Traite le bois contre l'humidité
    Boîte de cent gélules vides pour laboratoire
    Crème pour les mains au beurre de karité
    Poids : 3 kg
    Soin du cuir, incolore
    Un traitement de surface résistant aux rayures
    Le docteur Jivago, édition de poche
    Ne pas avaler`),
  it: lines(`
    La cura dei dettagli fa la differenza
    Trattamento per il legno esterno
    Capsule di caffè compatibili
    Prosciutto stagionato dodici mesi
    Crema mani al limone
    Peso: 1,5 kg
    Previene la ruggine sugli attrezzi
    Solo per uso di ricerca`),
  nl: lines(`
    Behandel het hout elk jaar met olie
    Koffiecapsules, doos van vijftig
    Gewicht: 2 kg
    Voorkomt roest en kalkaanslag
    Handcrème met amandelolie
    Het geheim van de dokter, roman
    Neem de trein naar zee
    Alleen voor onderzoek, niet voor menselijke consumptie`),
  pl: lines(`
    Zapobiega rdzy i korozji
    Waga: 2 kg
    Kapsułki do kawy, opakowanie 50 sztuk
    Krem do rąk z olejem migdałowym
    Leczo węgierskie w słoiku
    Rak nad rzeką, bajka dla dzieci
    Lekarz z prowincji, powieść
    Wyłącznie do celów badawczych`),
  ru: lines(`
    Предотвращает ржавчину и коррозию
    Вес: 2 кг
    Капсулы для кофемашины, 50 штук
    Крем для рук с миндальным маслом
    Записки врача, сборник рассказов
    Обработка дерева маслом раз в год
    Избавляет от пыли и пятен
    Только для исследований, не для употребления человеком`),
  zh: lines(`
    防止生锈和腐蚀
    净重2公斤
    咖啡胶囊，50粒装
    杏仁油护手霜
    医生的故事，短篇小说集
    减轻背包重量的轻量设计
    表面处理工艺精细
    仅供科研使用，不得用于人体`),
  ja: lines(`
    錆と腐食を防ぎます
    重さ2キロ
    コーヒーカプセル50個入り
    アーモンドオイルのハンドクリーム
    医者の物語、短編集
    木材の表面処理に最適
    バッグの重さを減らす軽量設計
    研究用途専用、人体には使用しないでください`),
  ar: lines(`
    يمنع الصدأ والتآكل
    الوزن: ٢ كجم
    كبسولات قهوة، علبة من خمسين
    كريم يدين بزيت اللوز
    مذكرات طبيب، مجموعة قصص
    معالجة الخشب بالزيت مرة في السنة
    يخفف وزن الحقيبة
    للأغراض البحثية فقط وليس للاستخدام البشري`),
}
