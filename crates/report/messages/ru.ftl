# Russian. Grammar: https://projectfluent.org/fluent/guide
#
# Arguments are formatted already, except counts, which select plural forms; `none` is an absent argument.


### Numbers and units: number-

number-language = Русский
number-decimal-separator = ,
# Между числом и единицей или знаком процента.
number-gap = {"\u00A0"}
number-microseconds = мкс
number-milliseconds = мс
number-seconds = с
number-minutes = мин
number-hours = ч
number-bytes = Б
number-kibibytes = КиБ
number-mebibytes = МиБ
number-gibibytes = ГиБ
number-tebibytes = ТиБ
# Окончания без промежутка: частота, тысяча, миллион.
number-per-second = /с
number-thousand = к
number-million = М
# Окончания частей точной длительности и текст между частями.
number-days-part = {"\u00A0"}д
number-hours-part = {"\u00A0"}ч
number-minutes-part = {"\u00A0"}мин
number-seconds-part = {"\u00A0"}с
number-between-parts = {"\u00A0"}
# Тексты перед нижней и перед верхней границей диапазона.
number-range-from = от{" "}
number-range-to = {" "}до{" "}


### Summary of a benchmark: bench-

# Подписи: не больше 23 столбцов; `bench-count`, `bench-mean` и `bench-max` — не больше 8, подписи перед номером
# скрипта — не больше 20.
bench-count = число
bench-mean = среднее
bench-max = максимум
bench-response-time = время ответа, мс
bench-service-time = время обслуживания, мс
bench-script-response = ответ, мс, скрипт
bench-script-service = обслуж., мс, скрипт
bench-script-statements = команды, мс, скрипт
bench-connecting = подключение, мс
bench-backlog-wait = ожидание клиента, мс
bench-send-lag = опоздание отправки, мкс
bench-timer-jitter = джиттер таймера, мкс
bench-failures = ошибки
bench-effect = изменения в базе
bench-dropped = отброшено
bench-clients = по клиентам
bench-generator = генератор
bench-thread = поток { $number }
bench-thread-counters = занят { $busy }, пробуждений { $wakeups }, самая долгая задержка { $stall }
bench-thread-kernel = переключений контекста: добровольных { $voluntary }, вынужденных { $involuntary }; страничных отказов: без чтения с диска { $minor }, с чтением { $major }
bench-measured = что измерено
bench-objective = цель
bench-verdict = итог
bench-note = оговорка
bench-valid = достоверно
bench-no-trusted-certificates = файл с доверенными сертификатами этой системы не найден
bench-stopped-early = остановлено до начала измерения
bench-invalid = НЕДОСТОВЕРНО

# Последствия неудачных транзакций.
bench-effect-none = нет
bench-effect-unknown = неизвестно: обрыв связи
bench-effect-refused = не было соединения

bench-never-sent = так и не { $dropped ->
    [one] отправлена { $dropped } заявка
    [few] отправлены { $dropped } заявки
   *[many] отправлено { $dropped } заявок
 } из { $arrivals } ({ $share })
bench-fairness = транзакций у клиента: меньше всего { $min_transactions }, медиана { $median }, больше всего { $max_transactions }; индекс Джейна { $jain }
    .requests = запросов у клиента: меньше всего { $min_transactions }, медиана { $median }, больше всего { $max_transactions }; индекс Джейна { $jain }
bench-cpu-cost = на транзакцию { $user }{"\u00A0"}мкс в режиме пользователя и { $system }{"\u00A0"}мкс в режиме ядра, из них { $spun }{"\u00A0"}мкс активного ожидания; самый занятый поток работал { $busiest } времени
    .requests = на запрос { $user }{"\u00A0"}мкс в режиме пользователя и { $system }{"\u00A0"}мкс в режиме ядра, из них { $spun }{"\u00A0"}мкс активного ожидания; самый занятый поток работал { $busiest } времени
bench-measured-postgres = PostgreSQL { $version }{ $origin ->
    [none] {""}
   *[other] {" "}из { $origin }
 }, { $transport } { $address }, база { $database }
bench-measured-http = { $version }, HTTP/1.1 поверх { $transport } { $address }
bench-measured-how = { $server }; { $model }; драйвер { $driver }; seed { $seed }
bench-unix-socket = Unix-сокет
bench-tls = TCP с TLS { $version }
bench-closed-model = закрытая модель
bench-closed-model-thinking = закрытая модель с паузой { $time }
bench-open-model-even = открытая модель, { $schedule }, равномерный поток заявок
bench-open-model-poisson = открытая модель, { $schedule }, пуассоновский поток заявок
bench-slack = { $model }, допуск { $time } (отправка и приём запаздывают не более чем на столько же)
bench-replay = воспроизведение { $recording }, скорость { $speed }

# Предпросмотр расписания.
bench-arrivals-per-second = заявок/с
bench-preview = { $arrivals ->
    [none] около { $expected ->
        [one] { $expected } заявки
       *[other] { $expected } заявок
     }
    [one] { $arrivals } заявка
    [few] { $arrivals } заявки
   *[many] { $arrivals } заявок
 } за { $duration }, { $spacing }, частота { $rates }
bench-spacing-even = равномерный поток
bench-spacing-poisson = пуассоновский поток, seed { $seed } (в среднем { $expected })
bench-rates = от { $lowest } до { $highest }

# Итоги.
bench-valid-with-doubts = достоверно, но с оговоркой: { $doubt }

# Причины, по которым измерение не учитывается.
bench-late = генератор опаздывал: { $quantile } опоздания отправки — { $lag }; { $jitter ->
    [none] джиттер таймера этой машины неизвестен
   *[other] джиттер таймера этой машины — { $jitter }
 }
bench-saturated = генератор был загружен до предела: поток { $thread } работал { $busy } времени; добавьте потоков (-j) или уменьшите нагрузку
bench-exhausted = не удалось открыть { $connections ->
    [one] { $connections } соединение
    [few] { $connections } соединения
   *[many] { $connections } соединений
 }: кончились файловые дескрипторы или локальные порты; увеличьте ulimit -n или net.ipv4.ip_local_port_range
bench-suspended = машина была приостановлена на { $duration }
bench-throttled = генератор упирался в собственную квоту ЦП (throttling) в { $share } периодов
bench-stalled = поток { $thread } генератора не работал { $duration }
bench-aborted = { $clients ->
    [one] { $clients } клиент из { $total } прекратил
    [few] { $clients } клиента из { $total } прекратили
   *[many] { $clients } клиентов из { $total } прекратили
 } работу: их скрипт не мог продолжаться; нагрузка была меньше заданной
bench-no-success = ни одна транзакция не завершилась успешно{ $failure ->
    [none] {""}
   *[other] : { $failure }
 }
    .requests = ни один запрос не завершился успешно{ $failure ->
        [none] {""}
       *[other] : { $failure }
     }

# Сомнения в измерении.
bench-host-late = на этой машине потоки просыпались с опозданием: { $quantile } опоздания отправки — { $lag }, джиттера таймера — { $jitter }; время ответа включает и это
bench-stolen = гипервизор отдал другим { $processors }{"\u00A0"}ЦП этой машины (steal)
bench-starved = поток { $thread } генератора ждал ЦП { $share } времени, и время ответа включает это
bench-cap-reached = все клиенты ({ $clients }) были заняты: из { $arrivals ->
    [one] { $arrivals } заявки
   *[other] { $arrivals } заявок
 } ждали клиента { $waited }, отброшено { $dropped }; открытая модель нарушена: достигнут предел клиентов
bench-behind-schedule = система отстала от записанного расписания: из запросов ({ $arrivals }) ждали предыдущего запроса своего сеанса { $waited } (p99 { $wait }), не отправлено { $dropped }
bench-results-differ = результаты отличаются от записанных: { $differing } из { $results } ({ $share })
bench-mix-differs = состав нагрузки не такой, как в записи: доля { $operation } равна { $measured } вместо { $recorded }; он будет ближе к записи, если нагрузка длится дольше или клиентов меньше
bench-uneven = клиенты обслужены неравномерно: от { $min_transactions } до { $max_transactions ->
    [one] { $max_transactions } транзакции
   *[other] { $max_transactions } транзакций
 } (индекс Джейна { $jain }); среднее скрывает тех, кто ждал
    .requests = клиенты обслужены неравномерно: от { $min_transactions } до { $max_transactions ->
        [one] { $max_transactions } запроса
       *[other] { $max_transactions } запросов
     } (индекс Джейна { $jain }); среднее скрывает тех, кто ждал
bench-outage = ни одной успешной транзакции в течение { $duration } (с { $from } до { $to })
    .requests = ни одного успешного запроса в течение { $duration } (с { $from } до { $to })
bench-outages = ни одной успешной транзакции в течение { $duration }, всего перерывов: { $count }, самый долгий с { $from } до { $to }
    .requests = ни одного успешного запроса в течение { $duration }, всего перерывов: { $count }, самый долгий с { $from } до { $to }
bench-feed-exhausted = нагрузка кончилась через { $at } вместо { $planned }: в ленте данных, каждая строка которой берётся один раз, всего { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 }
bench-node-not-used = нагрузка не прошла через { $node }
bench-log-incomplete = журнал транзакций неполон: не удалось записать один из его файлов
bench-no-rows = { $statement ->
    [none] несколько операторов сразу
   *[other] { $statement }
 }: ни одной строки в { $share } из { $count ->
    [one] { $count } выполнения
   *[other] { $count } выполнений
 }{ $second ->
    [none] {""}
   *[other] , с { $second }-й секунды
 } (скрипт { $script }, команда { $command }){ $others ->
    [0] {""}
   *[other] , ещё таких команд: { $others }
 }; проверьте, есть ли такие ключи и не пусты ли таблицы
bench-few-samples = { $count ->
    [one] { $count } транзакция
    [few] { $count } транзакции
   *[many] { $count } транзакций
 } — слишком мало для p99: нужна хотя бы 1000; измеряйте дольше
bench-small-answers = { $share } ответов сервиса размером около { $small }, а другие ответы на тот же запрос — { $large }; проверьте, не страницы ли это ошибки или входа
bench-address-changed = имя "{ $name }" теперь указывает на { $now }; весь запуск шёл на { $used }
note-name-moved = имя "{ $name }" теперь указывает на { $address }; новые соединения идут туда
bench-script-open = не удалось открыть файл "{ $name }": { $error }
    .help = укажите файл, доступный для чтения, или - для стандартного ввода
bench-script-read = не удалось прочитать файл "{ $name }": { $error }
    .help = укажите файл, доступный для чтения, или - для стандартного ввода
bench-script-size = файл "{ $name }" длиннее { $max } МиБ
    .help = берите строки из таблицы
bench-variable-not-utf8 = значение переменной окружения { $name } не в UTF-8
    .help = задайте текст в UTF-8 или удалите переменную:  unset { $name }
bench-file-irregular = "{ $path }" — не обычный файл; он не учитывается
bench-file-access = файл "{ $path }" доступен группе или всем и не учитывается
# Connections, in libpq's words.
bench-on-socket = через сокет "{ $path }"
bench-at-host = по адресу "{ $name }" ({ $address }), порт { $port }
bench-host-unknown = не удалось преобразовать имя узла "{ $host }" в адрес: { $error }
bench-connection-failed = не удалось подключиться к серверу { $server }: { $error }
bench-connection-timeout = тайм-аут: за { $seconds } с нет ответа
bench-server-unreachable = Сервер действительно работает по этому адресу и принимает подключения?
bench-session-read-only = сеанс доступен только для чтения
bench-session-read-write = сеанс доступен не только для чтения
bench-server-standby = сервер работает в режиме горячего резерва
bench-server-primary = сервер работает не в режиме горячего резерва
bench-clock-stepped = часы этой машины переведены { $direction ->
    [back] назад
   *[forward] вперёд
 } на { $step }; длительности и моменты в этом отчёте от них не зависят, а в логах других программ зависят


### Language of the output: language-

language-unknown = неизвестный язык "{ $code }"{ $source ->
    [none] {""}
   *[other] {" "}в { $source }
 }
    .help = напишите один из языков: { $codes }


### Headings of tables: table-

table-interval = 95{"\u00A0"}%
table-ratio = отношение
table-path = путь
table-cell = ячейка
table-compared-with = против
table-transport = транспорт
table-trials = измерений


### Stop rules and objectives: stop-

stop-fired = { $rule } остановило нагрузку после секунды { $second }; условие выполнялось с секунды { $cause_second }, при { $rate }{"\u00A0"}транз/с
    .requests = { $rule } остановило нагрузку после секунды { $second }; условие выполнялось с секунды { $cause_second }, при { $rate }{"\u00A0"}запр/с
stop-never-measured = правило остановки { $rule } ни разу не проверялось: ни у одного узла с таким именем нет этого ряда

stop-tank-mask = здесь `{ $mask }` — любой код, кроме 0, как и сказано в руководстве Yandex.Tank; сам Tank с июня 2024 года сравнивает коды целиком и находит только те, в которых { $length ->
    [one] { $length } знак
    [few] { $length } знака
   *[many] { $length } знаков
 }
stop-tank-quantile = Yandex.Tank не вычисляет квантиль { $percent }, и там это правило никогда бы не сработало; он вычисляет 25, 50, 75, 80, 90, 95, 98, 99 и 100
stop-tank-failed-times = здесь время есть только у успешных транзакций; Yandex.Tank учитывает и время неудачных
stop-tank-rounded = Yandex.Tank округляет { $limit }{"\u00A0"}мс до границы столбца своей гистограммы; здесь предел точен до 0,1{"\u00A0"}%
stop-tank-mean = здесь усредняются проценты отдельных секунд, а секунды без ответов пропускаются; Yandex.Tank считает такую секунду за 1{"\u00A0"}%, а в новейших версиях делит суммы за окно
stop-tank-missing = здесь секунда без значения ничего не меняет; Yandex.Tank читает её как 0
stop-tank-instances = здесь это доля клиентов; Yandex.Tank с Pandora требует для этого правила `startup: once`
stop-tank-unknown-rule = Yandex.Tank не знает этого правила

stop-objective-met = соблюдено: { $objective }: { $measured }
stop-objective-violated = НАРУШЕНО: { $objective }: { $measured }
stop-objective-unanswered = не оценено: { $objective }: { $measured }, но в конце нагрузки ответов не было
    .requests = не оценено: { $objective }: { $measured }, но в конце нагрузки ответов не было
stop-objective-ended-early = не оценено: { $objective }: { $measured }, но нагрузка кончилась раньше времени
stop-objective-not-measured = не оценено: { $objective }: { $reason }
stop-too-few-samples = данных мало ({ $samples }); измеряйте дольше
# `nearest` — старший измеримый квантиль и его значение.
stop-quantile-not-measurable = для { $quantile } нужно замеров: { $needed }, есть { $count }{ $nearest ->
    [none] {""}
   *[other] ; { $nearest }
 }
stop-lower-quantile = уже меньший квантиль выше границы
stop-measured = { $value } ({ $samples })
stop-samples = { $count ->
    [one] { $count } замер
    [few] { $count } замера
   *[many] { $count } замеров
 }
stop-arrivals = { $count ->
    [one] { $count } заявка
    [few] { $count } заявки
   *[many] { $count } заявок
 }
stop-writes = { $count ->
    [one] { $count } запись
    [few] { $count } записи
   *[many] { $count } записей
 }
stop-transactions = { $count ->
    [one] { $count } транзакция
    [few] { $count } транзакции
   *[many] { $count } транзакций
 }
    .requests = { $count ->
        [one] { $count } запрос
        [few] { $count } запроса
       *[many] { $count } запросов
     }

stop-met = соблюдено
stop-violated = НАРУШЕНО
stop-unknown = не оценено
# Первый вердикт списка; остальные: `stop-trials-next`.
stop-trials-first = { $verdict } в { $trials ->
    [one] { $trials } измерении
   *[other] { $trials } измерениях
 }
stop-trials-next = { $verdict } в { $trials }
stop-summary = { $objective }: { $verdicts }
stop-summary-worst = { $objective }: { $verdicts }; хуже всего{ $cell ->
    [none] {""}
   *[other] {" "}в { $cell }
 }: { $figure }
stop-summary-none = { $objective }: ничего не измерено
stop-summary-not-measured = { $objective }: { $verdicts }: { $reason }


### Feeds: feed-

feed-unreadable = его нельзя прочитать: { $error }
feed-query-failed = запрос ленты данных { $feed } не выполнен: { $error }
feed-empty = строк нет; напишите хотя бы одну
feed-header = первая строка называет столбцы ({ $columns }) и была бы принята за данные
feed-invalid = { $line ->
    [none] {""}
   *[other] строка { $line }:{" "}
 }{ $found }
feed-long-row = строка длиннее { $mebibytes }{"\u00A0"}МиБ; возможно, не закрыта кавычка
feed-long-field = поле занимает 4{"\u00A0"}ГиБ или больше
feed-large = упакованные строки занимают больше { $gibibytes }{"\u00A0"}ГиБ; используйте часть ленты или несжатый файл CSV без кавычек: он не упаковывается
feed-column-without-name = у столбца нет имени
feed-column-twice = столбец «{ $name }» назван дважды
feed-many-columns = столбцов { $columns }, а в ленте их не больше { $max }; удалите столбцы, которые не берёт ни одна операция
feed-nul = столбец «{ $name }» содержит нулевой байт, а в тексте PostgreSQL он недопустим; удалите его
feed-no-requests = запросов нет; напишите хотя бы один
feed-body-length = «{ $found }» — не длина тела; укажите число байтов, не больше { $max }
feed-short-body = лента кончается раньше, чем { $length } байтов этого тела
feed-header-line = «{ $found }» — не заголовок; напишите, например, `[Accept: */*]`
feed-many-headers = заголовков { $number }, а у запроса их не больше { $max }
feed-request-without-end = в запросе после этой строки нет пустой строки после заголовков
feed-request-header = в запросе после этой строки неверный заголовок «{ $found }»
feed-log-no-variable = в формате нет переменных
    .help = скопируйте `log_format` nginx, `LogFormat` Apache или `log-format` HAProxy
feed-log-no-method = в формате нет метода запроса
    .help = добавьте в формат сервера `$request` или `$request_method` (nginx), `%r` или `%m` (Apache), `%r` или `%HM` (HAProxy): без метода не видно, у каких запросов есть тело
feed-log-no-target = в формате нет пути запроса
    .help = добавьте в формат сервера `$request` или `$request_uri` (nginx), `%r` или `%U%q` (Apache), `%r` или `%HU` (HAProxy)
feed-log-open-quote = в формате не закрыта кавычка
    .help = скопируйте директиву целиком
feed-log-open-brace = в формате не закрыта скобка
    .help = запишите переменную так: {"`%{User-Agent}i`"}
feed-log-time-pattern = `{ $unknown }` в `{ $variable }` не поддерживается
    .help = используйте `%t` или части времени: `%Y`, `%m`, `%d`, `%H`, `%M`, `%S`, `%z` и `%s`
feed-log-adjacent = между `{ $first }` и `{ $second }` нет разделителя
    .help = поставьте между ними текст, например пробел
feed-log-prefix = строка начинается с `{ $found }`, а формат с `{ $expected }`
feed-log-separator = после { $field }, с байта { $column }, нет `{ $expected }`: `{ $found }`
feed-log-value = { $field } не может иметь значение с байта { $column }: `{ $found }`
feed-log-rest = строка продолжается после конца формата с байта { $column }: `{ $found }`
feed-log-no-request = в «{ $found }» нет запроса в кавычках; укажите `log_format`, если у журнала другой формат
feed-log-misfits = { $found }; формату журнала не соответствуют строки: { $misfits } из { $lines }
feed-skipped-lines = не отправляются строки журнала: { $lines }; с методом, у которого обычно есть тело: { $with_body }, без допустимого запроса: { $without_request }, не соответствуют формату: { $misfits }{ $first ->
    [none] {""}
   *[other] {" "}(первая: { $first })
 }
feed-method = «{ $found }» — не метод
feed-target = «{ $found }» — не путь; напишите, например, `/books?page=1`
feed-header-return = в значении заголовка есть возврат каретки
feed-empty-line = пустая строка; удалите её
feed-field-count = «{ $found }»: { $fields ->
    [one] { $fields } поле
    [few] { $fields } поля
   *[other] { $fields } полей
}, а столбцов { $columns }
feed-no-object = «{ $found }» — не объект; напишите, например, `{"{"}"id": 1{"}"}`
feed-no-member = в объекте нет поля «{ $name }»
feed-file = { $path }: { $error }
feed-file-unreadable = не удалось прочитать { $path }: { $error }
feed-without-rows = в ленте данных { $feed } нет строк
feed-not-stored = не удаётся записать строки ленты данных в { $path }: { $error }
feed-query-column-twice = `feeds.{ $feed }.sql`: запрос возвращает два столбца «{ $name }»
    .help = дайте каждому столбцу своё имя, например `SELECT a.id AS a_id, b.id AS b_id`
feed-query-no-column = `feeds.{ $feed }.columns`: запрос не возвращает столбец «{ $name }»; он возвращает { $columns }
    .help = используйте имена столбцов запроса или переименуйте столбец: `AS { $name }`
feed-coverage = лента данных { $feed }: { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 }, из них разных { $distinct }{ $repeats_after ->
    [none] {""}
    [one] ; строка повторяется через { $repeats_after } запрос
    [few] ; строка повторяется через { $repeats_after } запроса
   *[many] ; строка повторяется через { $repeats_after } запросов
 }{ $share ->
    [none] {""}
   *[other] ; её значениям соответствует { $share } строк таблицы по столбцу { $column }, это примерно { $touched } из { $bytes }
 }{ $memory ->
    [none] {""}
   *[other] : они помещаются в { $memory }, доступные серверу, а вся таблица — нет, поэтому измеряется кэш; нужно больше строк
 }


### Команда check: check-

check-file-too-long = файл длиннее { $mebibytes } МиБ; перенесите строки данных в файл ленты
check-file-not-utf8 = файл не в UTF-8, начиная с байта { $byte }; сохраните его в UTF-8
check-unreadable = не удалось прочитать { $path }: { $error }
check-error = ошибка
check-help = исправление
check-errors = { $count ->
    [one] { $count } ошибка
    [few] { $count } ошибки
   *[other] { $count } ошибок
 }; ничего не запущено

# Подписи длиной не более 9 знаков.
check-stack = стенд
check-mix = запросы
check-start = в начале
check-data = таблицы
check-data-dropped = база данных подключённого сервера удаляется и создаётся заново перед { $keep ->
    [true] первым измерением
   *[false] каждым измерением
 }
check-hooks = команды
check-fsync-off = `fsync` выключен, поэтому сохранность записей нельзя доказать: сбой операционной системы может потерять любую запись
check-hook-missing = программы { $program } из hooks или faults нет на этой машине
check-shared-hosts = хосты
check-feeds = данные
check-load = нагрузка
check-ledger = реестр
check-invariants = инвариант
check-faults = сбои
check-goal = цель
check-matrix = матрица
check-control = контроль
check-baseline = база
check-time = время
check-seed = seed
check-note = замечание

check-statements-accepted = Сервер принимает все команды.
check-statements-unchecked = Команды не проверены, потому что сервер недоступен.
check-operations-succeeded = Выполнены по одному разу без ошибок: { $names }.
check-operations-unanswered = Нет ответа на: { $names }.
check-operations-not-executed = Не выполнены, потому что их изменения остались бы: { $names }. Чтобы выполнить:  pgdyno try ФАЙЛ
check-replay-excluded = Не проверены запросы записи: они отправляются только в своих сеансах.
check-operations-excluded = Не проверены из-за `preflight: false`: { $names }.
check-many-clients = клиентов { $clients }, а stack.{ $key } оставляет им соединений { $limit }: остальные получат отказ; увеличьте его или уменьшите число клиентов
check-search-without-objectives = у поиска нет целей, поэтому подходит любое время ответа; добавьте их, например  objectives: [ "p99 < 100ms" ]
check-few-repeats = при `repeat: { $repeat }` нельзя показать различие ячеек: критерию нужно не меньше { $least } измерений каждой; напишите  repeat: 5
check-cells = { $count ->
    [one] { $count } ячейка
    [few] { $count } ячейки
   *[other] { $count } ячеек
 }
check-clients = клиенты
check-attached = { $name } (внешний)
check-stats = статистика: { $pages }
check-metrics = метрики хоста: { $urls }
check-connections = { $count ->
    [one] { $count } соединение
    [few] { $count } соединения
   *[other] { $count } соединений
 }
check-pool-size = размер пула { $size }
check-replicas = { $count ->
    [one] { $count } реплика
    [few] { $count } реплики
   *[other] { $count } реплик
 }
check-programs = программы: { $programs }
check-files = файлы: { $files }
check-copies = { $count ->
    [one] { $count } экземпляр
    [few] { $count } экземпляра
   *[other] { $count } экземпляров
 }
check-limit-cpu = { $count } ЦП
check-limit-memory = память { $bytes }
check-limit-reads = { $rate } чтений/с
check-limit-writes = { $rate } записей/с
check-limit-read-bytes = чтение { $bytes }/с
check-limit-write-bytes = запись { $bytes }/с
check-limit-cpu-list = на ЦП { $list }

check-operation = { $name }, { $share }: { $request }{ $feed ->
    [none] {""}
   *[other] , лента данных { $feed }
 }
check-on-start = { $request }{ $feed ->
    [none] {""}
   *[other] , лента данных { $feed }
 }
check-pause = через { $pause } { $request }
check-script = скрипт { $path }
check-ammo = запросы из ленты данных { $feed }
check-tagged-ammo = { $tag ->
    [none] остальные запросы ленты { $feed }
   *[other] { $tag }, лента { $feed }
 }
check-then = {", затем "}
check-redirects = { $count ->
    [one] до { $count } перенаправления
   *[other] до { $count } перенаправлений
 }
check-headers = заголовки { $names }
check-expect = ожидается { $list }
check-status = статус { $ranges }
check-without = без { $text }
check-decompress = с распаковкой
check-capture = { $name } из { $source }
check-capture-header = { $name } из заголовка { $header }
check-feed = { $name }: { $source }, { $order }{ $column ->
    [none] {""}
   *[other] , для { $column }
 }
check-requests = запросы { $format }
check-access-log = журнал веб-сервера
check-query = запрос
check-rows = { $count ->
    [one] { $count } строка
    [few] { $count } строки
   *[other] { $count } строк
 }

check-closed = закрытая модель
check-open = открытая модель
check-load-clients = { $count ->
    [one] { $count } клиент
    [few] { $count } клиента
   *[other] { $count } клиентов
 }
check-users = { $count ->
    [one] { $count } пользователь
    [few] { $count } пользователя
   *[other] { $count } пользователей
 }{ $rate ->
    [none] {""}
   *[other] {" "}по { $rate } в секунду
 }{ $duration ->
    [none] {""}
   *[other] {" "}в течение { $duration }
 }
check-think = пауза { $time }
check-think-exponential = паузы по экспоненциальному закону со средним { $mean }
check-think-log-normal = паузы по логнормальному закону с медианой { $median } и σ { $sigma }
check-pacing = одна итерация за { $interval }
check-rate-max = не более { $rate } в секунду
check-even = равномерный поток
check-poisson = пуассоновский поток
check-in-flight-cap = не более { $cap } одновременно
check-duration = { $duration }{ $warmup ->
    [none] {""}
   *[other] {" "}после прогрева { $warmup }
 }
check-warmup = после прогрева { $warmup }
check-query-mode = протокол { $mode }
check-slack = допуск { $time }
check-reconnect = новое соединение на каждую транзакцию
    .requests = новое соединение на каждый запрос
check-cookies = с cookie

check-goal-max = { $scale ->
    [clients] наибольшее число клиентов, при котором
   *[rate] наибольшая частота, при которой
 } цели выполнены, с точностью { $precision }{ $from ->
    [none] {""}
   *[other] , от { $from }
 }{ $limit ->
    [none] {""}
   *[other] {" "}до { $limit }
 }; измерения по { $window }, затем подтверждение в течение { $hold }{ $prove ->
    [true] ; причина проверяется изменением настроек
   *[false] {""}
 }
check-goal-share = { $share } от максимума
check-goal-confirm = { $level }: разгон { $ramp }, удержание { $hold }
check-goal-soak = { $level }: удержание { $duration }
check-goal-sweep = какие точки матрицы достаточны
check-goal-failover = переживёт ли сбои каждая подтверждённая запись

check-fault-run = выполнить `{ $command }`; другой сервер должен принимать записи в течение { $within }
check-fault-external = ждать переключения, которое вызовете вы; другой сервер должен принимать записи в течение { $within }
check-fault-at = через { $time }: { $action }
# `event` — ключевое слово файла эксперимента.
check-fault-after = { $delay ->
    [none] после { $event }
   *[other] через { $delay } после { $event }
 }: { $action }
check-fault-kill = убить все процессы { $node }
check-fault-kill-postmaster = убить главный процесс { $node }
check-fault-kill-manager = убить процесс { $manager } на { $node }
check-fault-pause = приостановить { $node } на { $duration }
check-fault-restart = перезапустить { $node }
check-fault-switchover = переключиться на { $node ->
    [none] любую реплику
   *[other] { $node }
 }
check-fault-isolate = изолировать { $node } от сети на { $duration }
check-fault-separate = изолировать { $node } от других серверов на { $duration }
check-fault-separate-nodes = изолировать { $node } от { $peers } на { $duration }
check-fault-freeze-disk = заморозить диск { $node } на { $duration }
check-fault-shift-clock =
    сдвинуть часы { $node } { $direction ->
        [back] назад
       *[forward] вперёд
    } на { $by } на время { $duration }
check-fault-fill-disk = заполнить диск { $node } на { $duration }
check-fault-block-replication = заблокировать репликацию { $duration ->
    [none] до повышения другого сервера
   *[other] на { $duration }
 }

check-trials = { $cells ->
    [one] { $cells } ячейка
    [few] { $cells } ячейки
   *[other] { $cells } ячеек
 }{ $controls ->
    [0] {""}
    [one] {" "}(из них { $controls } — положительный контроль)
   *[other] {" "}(из них { $controls } — положительные контроли)
 } × { $repeat } = { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[other] { $trials } измерений
 }
check-searches = { $cells ->
    [one] { $cells } ячейка
    [few] { $cells } ячейки
   *[other] { $cells } ячеек
 }{ $controls ->
    [0] {""}
    [one] {" "}(из них { $controls } — положительный контроль)
   *[other] {" "}(из них { $controls } — положительные контроли)
 } × { $repeat } = { $searches ->
    [one] { $searches } поиск
    [few] { $searches } поиска
   *[other] { $searches } поисков
 }
check-no-guarantee = без гарантии сохранности; { $faults }
check-time-of-search = зависит от числа измерений, которое потребуется поиску
check-time-under-load = { $duration } под нагрузкой, не считая подготовки


### Команда judge: judge-

judge-conclusion = { $name }: { $conclusion }
judge-counts = { $acknowledged ->
    [one] подтверждена { $acknowledged } запись
    [few] подтверждены { $acknowledged } записи
   *[many] подтверждено { $acknowledged } записей
 }, с предупреждением{"\u00A0"}— { $warned }, отклонено{"\u00A0"}— { $failed }, с неизвестным исходом{"\u00A0"}— { $unknown }, возможно отправлено{"\u00A0"}— { $unresolved }
judge-server = сервер { $address }, линия времени { $timeline }
# `examples`: сеанс и номер первых записей.
judge-anomaly = { $anomaly }: { $count } ({ $meaning }){ $examples ->
    [none] {""}
   *[other] {": "}{ $examples }
 }
judge-line = { $text ->
    [none] эта строка заканчивается слишком рано
   *[other] { $text }{"\u00A0"}— не часть истории
 }
    .help = напишите { $usage }
judge-notation-event = {"`TIME settings|role|write|fault|promote|read|value …`"}
judge-notation-control = {"`control LOST|none`"}
judge-notation-ledger = {"`ledger closed|open|torn`"}
judge-notation-level = {"`off|local|remote_write|on|remote_apply`"}
judge-notation-settings = {"`TIME settings SERVER LEVEL [SYNCHRONOUS_STANDBY_NAMES]`"}
judge-notation-role = {"`TIME role SERVER primary|standby [fsync=off]`"}
judge-notation-write = {"`FROM-TO write SESSION/SEQUENCE acknowledged|warned|failed|unknown [SQLSTATE] [SERVER]`"}
judge-notation-fault = {"`TIME fault [failover] [host]`"}
judge-notation-promote = {"`TIME promote NAME [SYNCHRONOUS_STANDBY_NAMES]: NAME=POSITION [sync], …`"}
judge-notation-read = {"`TIME read SERVER primary|standby [KEYS]`"}
judge-notation-value = {"`TIME value SERVER RESULT`"}
judge-notation-server = {"`[SYSTEM:]NAME@TIMELINE[+RESTARTS]`"}
judge-notation-expect = {"`expect kept|broken|not_proven[: ANOMALY COUNT, …]`"}
judge-notation-reason = {"`because REASON, …`"}
judge-notation-standbys = {"`ANY 1 (b, c)`"}
judge-notation-anomaly = {"`lost 1`"}
judge-notation-time = {"`12|12.5|12-13`"}
judge-notation-key = {"`SESSION/SEQUENCE`"}
judge-notation-keys = {"`0/0 0/2-9 0/10x2 0/11! [1/0 1/1]`"}
judge-notation-outcome = {"`acknowledged|warned|failed|unknown`"}
judge-unexpected = вердикт отличается от ожидаемого: ожидался { $expected }, получен { $actual }


### Команда doctor: doctor-

doctor-servers = Серверы PostgreSQL
doctor-server-installed = { $version }, установлен: { $path }
doctor-server-downloaded = { $version }, скачан: { $path }
# Подписи длиной не более 13 знаков.
doctor-not-usable = не подходит
doctor-report-written = записан { $path }; ответьте в нём на вопросы и приложите его к сообщению об ошибке
doctor-none = нет
doctor-user = сервер от
doctor-data = данные
doctor-system = система
doctor-cpus = ЦП
doctor-memory = память
doctor-files = файлы
doctor-ports = порты
doctor-clock = часы
doctor-frequency = частота ЦП
doctor-limits = ограничения
doctor-jitter = таймеры

doctor-download = неустановленные версии PostgreSQL с { $first } по { $last } pgdyno распаковывает из архива: см. PGDYNO_POSTGRES_MIRROR
doctor-features = Возможности экспериментов
doctor-missing = не хватает: { $missing }
doctor-missing-program = программа { $name } из PostgreSQL
doctor-missing-package = программа { $name } (пакет { $package })
doctor-missing-library = расширение { $name } для PostgreSQL
doctor-missing-namespaces = право создавать пространства имён, которое есть у root ({ $error })
doctor-current-user = текущий пользователь
doctor-data-directory = { $path }, свободно { $room }
doctor-programs = Другие программы
doctor-version-unknown = версия неизвестна
doctor-not-found = не найдено
doctor-machine = Эта машина
doctor-unknown = неизвестно
doctor-kernel = { $system }, ядро { $kernel }
doctor-unlimited = без ограничения
doctor-file-limit = { $now }, можно увеличить до { $most }
doctor-port-range = с { $first } по { $last }: { $count ->
    [one] { $count } соединение
    [few] { $count } соединения
   *[other] { $count } соединений
 } с одним адресом TCP
doctor-available = доступен
doctor-not-available = недоступен
doctor-no-governor = нет регулятора (обычно для виртуальных машин)
doctor-governor = регулятор { $name }
doctor-no-controllers = нет контроллеров
doctor-no-limits = ни одно не применимо
doctor-limits-not-applied = кроме { $limits }: { $reason }
doctor-jitter-values = p50 { $p50 }, p99 { $p99 }, max { $max }; пробуждений { $count }, по одному в мс
doctor-jitter-note = транзакции не могут начинаться точнее, чем срабатывают таймеры этой машины

# Для чего нужно то, чего нет, и как это получить.
doctor-needed-for = нужно для { $purpose }{ $remedy ->
    [none] {""}
   *[other] : { $remedy }
 }
doctor-purpose-server = временных серверов и команды demo
doctor-purpose-pgbench = сравнения pgdyno с pgbench на этой машине
doctor-purpose-pooler = пулера перед сервером
doctor-purpose-balancer = балансировщика перед несколькими серверами
doctor-purpose-manager = автоматического переключения с основного сервера на реплику
doctor-purpose-node = узла стенда
doctor-purpose-replicas = реплики, которые запускает pgdyno
doctor-purpose-networks = сбой `isolate` и кластеры менеджера отказоустойчивости
doctor-purpose-disks = сбои `fill_disk` и `freeze_disk`
doctor-purpose-clocks = сбой `shift_clock`
doctor-purpose-statements = время команд, которые посылают пулеры и сервисы
doctor-purpose-indexes = советы по индексам, проверенные без их построения
doctor-purpose-cpu = генератора, который не отнимает ЦП у сервера
doctor-remedy-cpu = второй ЦП
doctor-purpose-files = большего числа соединений одного процесса
doctor-purpose-driver = драйвера, которому нужно меньше ЦП
doctor-purpose-clock = чтения часов за 20 нс, без системного вызова
doctor-remedy-clock = источник времени tsc
doctor-purpose-frequency = более ровного времени ответа при малой нагрузке
doctor-purpose-limits = этих ограничений для узлов стенда
doctor-remedy-disk = TMPDIR на диске
doctor-remedy-cgroup = root или делегированная cgroup


### Команда runs: runs-

runs-none = в каталоге { $directory } нет прогонов
runs-selected = { $text }: выбран прогон { $run }{ $started ->
    [none] {""}
   *[other] , начат { $started }
 }
runs-unknown = в каталоге { $directory } нет прогона "{ $text }"
runs-unknown-hint = прогоны, сначала новые: { $candidates }
runs-ambiguous = с "{ $text }" начинаются имена нескольких прогонов: { $candidates }
runs-ambiguous-hint = укажите больше букв имени
runs-candidates = { $names }{ $more ->
    [0] {""}
   *[other] {" "}и ещё { $more }
 }
# Заголовки столбцов.
runs-column-name = ИМЯ
runs-column-time = ВРЕМЯ (UTC)
runs-column-cells = ЯЧЕЕК
runs-column-trials = ИЗМЕРЕНИЙ
runs-column-status = СОСТОЯНИЕ
runs-column-size = РАЗМЕР
runs-column-trial = ИЗМЕРЕНИЕ
runs-column-cell = ЯЧЕЙКА
runs-column-repeat = ПОВТОР
runs-column-verdict = ВЕРДИКТ
runs-column-seconds = СЕКУНД
runs-column-tps = ТРАНЗ/С
    .requests = ЗАПР/С
runs-column-p99 = p99
runs-column-errors = ОШИБКИ
runs-column-setting = НАСТРОЙКА
runs-verdict = { $verdict ->
    [valid] верно
    [valid_with_doubts] верно с оговорками
   *[invalid] недействительно
 }
# `state`: running, complete, interrupted, stopped, failed или skipped.
runs-state = { $state ->
    [running] идёт
    [complete] завершён
    [interrupted] прерван
    [stopped] остановлен
    [failed] сбой
   *[skipped] пропущен
 }
runs-empty = пустой файл
runs-no-run = не прогон
runs-newer = новая версия
runs-unreadable = не читается

# Подписи длиной не более 10 знаков.
runs-name = прогон
runs-file = файл
runs-started = начало
runs-status = состояние
runs-ended = конец
runs-reason = причина
runs-seed = seed
runs-versions = версии
runs-results = результаты

runs-no-results = недоступны: { $reason }
runs-trial = измерение { $id }
runs-trials = измерения { $ids }
runs-note = замечание: { $note }
runs-removed = удалён { $path }
runs-repetition = { $cell }, повтор { $repetition }
runs-not-fired = правило { $rule } не сработало бы
runs-other-version = { $path }: файл записан другой версией pgdyno: { $error }
runs-not-compared = { $error }; прогон не сравнивается
runs-left-out = { $error }; прогон пропущен
runs-all-unreadable = в каталоге { $directory } ни один прогон эксперимента { $experiment } не читается
runs-rule-error = `{ $rule }`, столбец { $column }: { $error }


### Команда init: init-

init-written = записан файл { $path }; измените его и проверьте:  pgdyno check { $path }
init-exists = файл { $path } уже есть
init-exists-hint = выберите другое имя или удалите этот файл
init-failed = не удалось записать { $path }: { $error }
init-failover-running = `--find failover` читает записанные строки из PostgreSQL; его нельзя сочетать с `--http`
init-url = значение `--http` — не URL без пароля; напишите, например, http://127.0.0.1:8080/books


### Ошибки в расписаниях: schedule-

# `help` — что написать вместо этого. Слова пользователя уже в обратных кавычках.
schedule-fill-in = это значение не заполнено
    .help = замените `FILL_IN` числом, например `const(100, 60s)`
schedule-empty = расписание пусто
    .help = напишите расписание, например `const(100, 60s)`
schedule-unclosed = эта скобка не закрыта
    .help = напишите `)` после длительности
schedule-junk = { $text } не относится к расписанию
    .help = удалите это или напишите `line(…)`, `const(…)` или `step(…)`
schedule-unnamed = скобка без имени перед ней
    .help = напишите `line(…)`, `const(…)` или `step(…)`
schedule-instances = `{ $name }` запускает инстансы, а расписание состоит из частот
    .help = напишите `line(…)`, `const(…)` или `step(…)`
schedule-part = { $name } — неизвестный вид расписания
    .help = { $nearest ->
        [none] напишите `line(…)`, `const(…)` или `step(…)`
       *[other] напишите `{ $nearest }`
    }
schedule-arity = у `{ $name }` должно быть { $arity } { $arity ->
    [one] значение
    [few] значения
   *[many] значений
 }, а не { $count }
    .help = напишите { $name ->
        [const] `const(частота, длительность)`
        [line] `line(от, до, длительность)`
       *[step] `step(от, до, шаг, длительность)`
    }
schedule-line-duration = длительность `line` должна быть больше 0
    .help = напишите длительность не меньше `1s`
schedule-increment = шаг равен 0: последняя частота никогда не будет достигнута
    .help = напишите шаг больше 0
schedule-levels = число ступеней — { $count }, а в расписании их может быть не больше { $max }
    .help = увеличьте шаг или сократите число ступеней
schedule-total = до этого места расписание длится { $days } сут., а может длиться не больше { $max }
    .help = сократите длительности
schedule-rate-missing = не указана частота
    .help = напишите число, например `10` или `0.5`
schedule-rate-negative = частота { $text } отрицательна
    .help = напишите частоту не меньше 0
schedule-rate = { $text } — не частота
    .help = напишите число, например `10` или `0.5`; это частота в секунду
schedule-decimals = в { $text } больше шести знаков после точки
    .help = оставьте не больше шести
schedule-rate-max = частота { $text } слишком велика для одной машины
    .help = напишите не больше { $max } в секунду
schedule-duration-missing = не указана длительность
    .help = напишите длительность, например `90s` или `1h30m`
schedule-duration-max = { $text } — больше { $max } суток
    .help = напишите меньшую длительность
schedule-duration-fraction = { $text } — не целое число секунд
    .help = { $below ->
        [none] напишите `{ $above }s`
       *[other] напишите `{ $below }s` или `{ $above }s`
    }
schedule-duration = { $text } — не длительность
    .help = напишите целые числа суток, часов, минут и секунд в этом порядке, например `1h30m` или `90s`


### Ошибки в правилах остановки, целях и условиях: rule-, objective-, condition-

# `help` — что написать вместо этого. Слова пользователя уже в обратных кавычках; `text` равен `none`, если чего-то не
# хватает. `form` — синтаксис правила.
rule-unknown = { $text ->
    [none] не указано правило остановки
   *[other] { $text } — не правило остановки
 }
    .help = напишите правило, например `net(xx,25,10)`; есть правила { $names }
rule-not-in-tank = правило { $name } не реализовано ни здесь, ни в Yandex.Tank
    .help = напишите другое правило, например `quantile(99, 1s, 10)`
rule-unclosed = скобка правила остановки не закрыта
    .help = напишите `)`; синтаксис: `{ $form }`
rule-trailing = после правила остановки стоит { $text }
    .help = запишите каждое правило отдельным элементом
rule-surplus = лишний аргумент правила остановки: { $text }
    .help = удалите его; синтаксис: `{ $form }`
rule-operation = { $text ->
    [none] не указано имя операции
   *[other] неизвестная операция { $text }
 }
    .help = есть операции: { $names }
rule-time = { $text ->
    [none] не указано время
   *[other] { $text } — не время
 }
    .help = напишите время, например `200ms` или `1s500ms`; синтаксис: `{ $form }`
rule-seconds = { $text ->
    [none] не указано число секунд
   *[other] { $text } — не целое число секунд больше 0
 }
    .help = напишите целое число секунд, например `10` или `1m`; синтаксис: `{ $form }`
rule-level = { $text ->
    [none] не указаны ни число, ни процент
   *[other] { $text } — не число и не процент
 }
    .help = напишите целое число от 1 или процент больше `0%` и до `100%`; синтаксис: `{ $form }`
rule-percent = `{ $count }` — не процент
    .help = напишите `{ $count }%`
rule-number = { $text ->
    [none] не указано число
   *[other] { $text } — не число
 }
    .help = напишите число, например `90` или `0.5`; синтаксис: `{ $form }`
rule-mask-http = { $text ->
    [none] не указана маска кодов HTTP
   *[other] { $text } — не маска кодов HTTP
 }
    .help = напишите код, где `x` — любая цифра, например `5xx`; синтаксис: `{ $form }`
rule-mask-net = { $text ->
    [none] не указана маска сетевых ошибок
   *[other] { $text } — не маска сетевых ошибок
 }
    .help = напишите errno, где `x` — любая цифра, например `110`, `11x` или `xx`; синтаксис: `{ $form }`
rule-mask-sql = { $text ->
    [none] не указана маска SQLSTATE
   *[other] { $text } — не маска SQLSTATE
 }
    .help = напишите SQLSTATE из пяти символов, где `x` — любой, например `53xxx`; синтаксис: `{ $form }`
rule-quantile = { $text ->
    [none] не указан квантиль
   *[other] { $text } — не квантиль
 }
    .help = напишите квантиль в процентах, например `99` или `99.9`; синтаксис: `{ $form }`
rule-node = не указано имя узла
    .help = напишите имя или `*` — любой узел; синтаксис: `{ $form }`
rule-metric = не указано имя ряда
    .help = напишите имя, например `pg_backends`; все ряды перечислены в `docs/probes.md`; синтаксис: `{ $form }`
rule-series = ряд { $name } не собирается
    .help = { $similar ->
        [none] напишите имя, например `pg_backends`; все ряды перечислены в `docs/probes.md`
       *[other] напишите { $similar }
    }
objective-form = { $text ->
    [none] не указана цель
   *[other] { $text } — не цель
 }
    .help = напишите цель, например `p99 < 200ms`
objective-metric = { $text ->
    [none] не указан показатель
   *[other] неизвестный показатель { $text }
 }
    .help = напишите один из показателей: { $names }
objective-time = { $text ->
    [none] не указано время
   *[other] { $text } — не время
 }
    .help = напишите время с единицей, например `200ms` или `1.5s`
objective-share = { $text ->
    [none] не указан процент
   *[other] { $text } — не процент
 }
    .help = напишите процент, например `0.1%`
objective-rate = { $text ->
    [none] не указана частота
   *[other] { $text } — не частота
 }
    .help = напишите число транзакций в секунду, например `500`
objective-count = { $text ->
    [none] не указано число записей
   *[other] { $text } — не число записей
 }
    .help = напишите число, например `0`
objective-failover = для этой цели нужны отказы и операция с журналом записей
    .help = добавьте `faults` и `ledger` или удалите цель
objective-step = { $names ->
    [none] шаги операции не измеряются по отдельности, поэтому для { $text } нельзя задать цель
   *[other] в операции нет шага { $text }
 }
    .help = { $names ->
        [none] запишите цель для операции, без шага
       *[other] есть шаги: { $names }
     }
objective-step-dropped = у шага не бывает отброшенных запросов
    .help = напишите `errors` или запишите цель для операции
objective-relation = в цели нельзя ограничить { $metric } знаком `{ $sign }`
    .help = { $is_rate ->
        [true] напишите `>` или `>=`
       *[false] напишите `<` или `<=`
    }
condition-form = { $text ->
    [none] не указано условие
   *[other] { $text } — не условие
 }
    .help = напишите условие, например `p99 > +10%`
condition-operation = у отдельных операций нет показателя `{ $name }`
    .help = напишите `{ $name }` без операции
condition-time = { $text ->
    [none] не указана граница
   *[other] { $text } — не время и не изменение
 }
    .help = напишите изменение, например `+10%`, или время, например `200ms`
condition-share = { $text ->
    [none] не указана граница
   *[other] { $text } — не доля и не изменение
 }
    .help = напишите долю, например `1%`, или изменение, например `+0.5%`
condition-rate = { $text ->
    [none] не указана граница
   *[other] { $text } — не частота и не изменение
 }
    .help = напишите изменение, например `-5%`, или частоту, например `500/s`
condition-cpus = { $text ->
    [none] не указана граница
   *[other] { $text } — не число ядер и не изменение
 }
    .help = напишите изменение, например `+10%`, или число ядер, например `1.5`


### Скрипты: script-

# `help` — что написать вместо этого.
script-found-here = ошибка здесь
script-in-command = { $error } в команде `{ $command }`
script-count = скриптов SQL может быть не больше { $max }
    .help = объедините несколько операторов в один скрипт с помощью `\if`
script-weights = сумма весов скриптов равна 0
    .help = задайте вес хотя бы одному скрипту, например `script.sql@1`
script-variables = слишком много переменных (их может быть не больше { $max })
    .help = используйте меньше имён
script-variable-name = { $command ->
    [none] {""}
   *[other] `{ $command }`:{" "}
 }неверное имя переменной: `{ $name }`
    .help = используйте буквы, цифры и подчёркивания; первой не может быть цифра
script-zero-byte = в скрипте нулевой байт
    .help = скрипт — текстовый файл; удалите этот байт
script-not-utf8 = байт { $byte } — не UTF-8
    .help = другая кодировка допустима только в операторах SQL; переменные и команды с обратной чертой пишите в `ASCII`
script-empty = { $script ->
    [none] в скрипте нет команд
   *[other] в скрипте `{ $script }` нет команд
 }
    .help = напишите хотя бы один оператор или команду с обратной чертой
script-condition = ошибка условия в команде { $number }{ $script ->
    [none] {""}
   *[other] {" "}скрипта `{ $script }`
 }: { $error ->
    [if] `\if` без парного `\endif`
    [elif] `\elif` без парного `\if`
    [else] `\else` без парного `\if`
    [endif] `\endif` без парного `\if`
    [elif-after-else] `\elif` после `\else`
   *[else-after-else] `\else` после `\else`
 }
    .help = { $error ->
        [if] завершите этот `\if` строкой `\endif`
        [elif-after-else] поставьте все `\elif` перед единственным `\else`
        [else-after-else] поставьте все `\elif` перед единственным `\else`
       *[other] начните со строки `\if EXPRESSION`
    }
script-parameters = у оператора слишком много параметров (их может быть не больше { $max }): `{ $text }`
    .help = уменьшите число переменных в нём или выберите `-M simple`
script-invalid-command = неизвестная команда
    .help = есть команды `\set \if \elif \else \endif \gset \aset \sleep \shell \setshell \startpipeline \syncpipeline \endpipeline`
script-missing-argument = не хватает аргумента
    .help = напишите `{ $usage }`
script-too-many-arguments = слишком много аргументов
    .help = напишите `{ $usage }`
script-word-count = слишком много аргументов
    .help = в команде с обратной чертой может быть не больше { $max } слов
script-prefixes = слишком много аргументов
    .help = укажите один префикс имён переменных или ни одного
script-unexpected-argument = лишний аргумент
    .help = удалите `{ $word }`
script-shell-forbidden = команды оболочки запрещены
    .help = укажите `--allow-shell`, если доверяете этому скрипту
script-shell-missing = не указана команда
    .help = напишите `\shell COMMAND`
script-store-place = `\gset` может стоять только после оператора SQL
    .help = напишите его один раз вместо точки с запятой, например `SELECT 1 AS one \gset`
script-sleep-time = время паузы должно быть целым числом, а не `{ $text }`
    .help = вместо дроби укажите меньшую единицу, например `\sleep 1500 ms`
script-sleep-unit = неизвестная единица времени `{ $unit }`; допустимы `us`, `ms` и `s`
    .help = напишите `{ $usage }`
script-undefined = переменная `{ $name }` не определена
    .help = { $alternatives ->
        [none] {""}
       *[other] напишите { $alternatives },{" "}
    }задайте её раньше командой `\set { $name } …` или напишите `: { $name }`, если это не переменная
script-undefined-warning = { $place }: { $error }; пока её не задаст другой скрипт, { $mode ->
    [simple] в операторе передаётся текст `:name`
    [pgbench] передаётся NULL
   *[extended] клиент, дошедший до этого оператора, завершается
 }

# Выражения.
script-syntax = синтаксическая ошибка
    .help = { $found ->
        [none] строка закончилась
       *[other] здесь `{ $found }`
    }, а ожидается { $expected ->
        [operand] операнд: число, `:variable`, `function(…)`, `CASE` или `(`
        [closing] оператор или `)`
        [comma] оператор, `,` или `)`
        [arguments] `(` и аргументы функции
        [truth] `NULL`, `TRUE` или `FALSE` после `IS`
        [when] `WHEN`, например `CASE WHEN :i = 1 THEN … END`
        [then] оператор или `THEN`
        [end] оператор, `WHEN`, `ELSE` или `END`
       *[end-of-line] оператор или конец строки
    }
script-syntax-min-int = синтаксическая ошибка
    .help = напишите перед 9223372036854775808 знак минус: без него число не помещается в `int`
script-syntax-equals = синтаксическая ошибка
    .help = сравнение записывается одним знаком `=`
script-syntax-comparison = синтаксическая ошибка
    .help = сравнения нельзя соединять в цепочку; напишите `a < b AND b < c`
script-nesting = слишком большая вложенность выражения (допустимо не больше { $max })
    .help = вычислите часть выражения отдельной командой `\set`
script-depth = слишком глубокое выражение (допустимо не больше { $max } операций одна над другой)
    .help = вычислите часть выражения отдельной командой `\set`
script-double-overflow = переполнение константы `double`: `{ $text }`
    .help = значения `double` лежат между `2.3e-308` и `1.7e308`
script-bigint-overflow = переполнение константы `bigint`: `{ $text }`
    .help = наибольшее значение `int` — { $max }; `{ $text }.0` имеет тип `double`
script-character = недопустимый символ `{ $character }`
    .help = { $kind ->
        [semicolon] команда с обратной чертой заканчивается вместе со строкой; удалите точку с запятой
        [exclamation] отрицание записывается как `NOT`, неравенство — как `<>` или `!=`
        [caret] степень записывается как `pow(x, y)`
        [quote] в выражениях есть числа, логические значения и `null`, но нет строк
        [colon] напишите имя переменной сразу после двоеточия
        [backslash] обратная черта продолжает команду только в самом конце строки
        [point] напишите цифру после точки
        [bracket] группируйте круглыми скобками
       *[other] есть операторы `+ - * / % = <> < <= > >= | & # ~ << >> AND OR NOT IS`
    }
script-fill-in = значение не заполнено (`FILL_IN`)
    .help = напишите выражение, например `random(1, 1000)`
script-function = неизвестная функция `{ $name }`
    .help = { $alike ->
        [none] переменная записывается как `:{ $name }`; есть функции { $known }
       *[other] напишите `{ $alike }(…)`, если это функция, или `:{ $name }`, если это переменная
    }
script-arguments = { $some ->
    [true] у функции `{ $name }` должен быть хотя бы один аргумент
   *[false] неверное число аргументов функции `{ $name }`
 }
    .help = напишите { $calls }

# Запросы.
script-step = операция `{ $operation }`{ $step ->
    [none] {""}
   *[other] , шаг { $step }
 }: { $error }
script-step-method = метода `{ $method }` нет
    .help = напишите один из методов: { $known }
script-step-target = `{ $target }` — не путь
    .help = напишите путь, например `/books?page=1`; пробел записывается как `%20`
script-step-variable = знак `$` в `{ $text }` не начинает переменную
    .help = напишите {"`${name}`"} или `$$`, если нужен сам знак
script-step-secret = переменная окружения `{ $name }` не задана
    .help = задайте её раньше: `export { $name }=…`
script-step-header = `{ $text }` — не заголовок
    .help = напишите, например, `Accept: text/html`
script-step-control = в заголовке `{ $name }` есть конец строки или другой управляющий символ
    .help = удалите его
script-step-reserved = заголовок `{ $name }` добавляет сам pgdyno
    .help = удалите его
script-capture-pointer = извлечение `{ $name }`: { $has_tilde ->
    [true] после `~` в `{ $text }` нет ни 0, ни 1
   *[false] `{ $text }` — не указатель JSON
 }
    .help = { $has_tilde ->
        [true] сам знак записывается как `~0`
       *[false] напишите, например, `/items/0/id`
    }
script-capture-regex = извлечение `{ $name }`: неверное регулярное выражение `{ $text }`: { $reason }
    .help = напишите, например, `{ $example }`
script-step-undefined = операция `{ $operation }`: переменная {"`${"}{ $name }{"}`"} не определена
    .help = задайте её, извлеките на одном из предыдущих шагов или возьмите из ленты данных с такой колонкой
script-request-undefined = переменная {"`${"}{ $name }{"}`"} не определена
    .help = добавьте `-D { $name }=value`
script-ammo-column = операция `{ $operation }`: в ленте данных нет колонки `{ $name }`, обязательной для каждого запроса
    .help = возьмите ленту данных формата `uri`, `uripost`, `raw` или `access`


### Причины, по которым останавливается клиент или нагрузка: abort-

abort-reason = { $code } { $message }
abort-client = клиент { $client } остановлен: { $reason }
abort-feed-exhausted = строки ленты `{ $name }` закончились: каждая использована один раз
abort-row-count = ожидалась одна строка, получено { $got }
abort-column-name = не удалось сохранить значение в переменной `{ $name }`
abort-open-transaction = скрипт закончился, не завершив транзакцию
abort-open-pipeline = скрипт закончился, не закрыв конвейер
abort-pipeline = `\startpipeline` внутри конвейера либо `\endpipeline` или `\syncpipeline` вне его
abort-simple-pipeline = конвейер невозможен с простым протоколом запросов
abort-store-in-pipeline = `\gset` и `\aset` недопустимы в конвейере
abort-copy = COPY не поддерживается
abort-undefined = переменная `{ $name }` не определена; задайте её раньше: `\set { $name } …` или `-D { $name }=…`
abort-unquotable = текстовая переменная `{ $name }` стоит в комментарии или внутри долларовых кавычек, где простой протокол не может её экранировать; перенесите `:{ $name }` в другое место или выберите `query_mode extended`
abort-malformed = неверное значение переменной `{ $name }`: `{ $text }`; в выражении допустимы `null`, логическое значение, целое число и `double`
abort-not-integer = неверный синтаксис целого числа: `{ $text }` (переменная `{ $name }`)
abort-too-large = значение `{ $text }` не помещается в bigint (переменная `{ $name }`); добавьте десятичную точку, чтобы получить double
abort-variable-name = set: неверное имя переменной: `{ $name }`; используйте буквы, цифры и подчёркивания; первой не может быть цифра
abort-coercion = тип { $from } не приводится к типу { $to }; { $advice ->
    [null] сначала проверьте значение с помощью `IS NULL`
    [boolean] напишите сравнение, например `x <> 0`
   *[number] напишите `CASE WHEN … THEN 1 ELSE 0 END`
 }
abort-double-to-int = переполнение: `double` { $value } не помещается в `int`; в `int` 64 бита
abort-overflow = переполнение `bigint`: { $operation ->
    [add] сложение
    [sub] вычитание
    [mul] умножение
   *[div] деление
 }; чтобы получить `double`, приведите один операнд: `double(…)`
abort-division-by-zero = деление на ноль; напишите `CASE WHEN divisor <> 0 THEN … END`
abort-too-many-arguments = у функции слишком много аргументов (их может быть не больше { $max }); вложите вызовы: `least(least(…), …)`
abort-permute-size = параметр `size` функции `permute` — число переставляемых значений; он должен быть больше нуля
abort-sleep-undefined = sleep: переменная `{ $name }` не определена; задайте её раньше: `\set { $name } …`
abort-sleep-not-numeric = sleep: неверное время паузы `{ $text }` в переменной `{ $name }`; значение должно начинаться с целого числа
abort-empty-range = пустой диапазон функции `random`; сначала укажите меньшую границу, например `random(3, 5)`
abort-range-too-large = слишком большой диапазон функции `random`; `max − min` должно быть меньше 9223372036854775807
abort-gaussian = параметр распределения `gaussian` должен быть не меньше { $min } (а не { $parameter }); чем он больше, тем уже распределение
abort-exponential = параметр распределения `exponential` должен быть больше нуля (а не { $parameter }); чем он больше, тем чаще значения около минимума
abort-zipfian = параметр распределения `zipfian` должен лежать в [{ $min }, { $max }] (а не { $parameter }); чем он больше, тем чаще минимум
abort-shell-undefined = { $command }: переменная `:{ $name }` не определена; задайте её раньше: `\set { $name } …` — или напишите `::{ $name }`, если это не переменная
abort-shell-launch = не удалось запустить команду оболочки `{ $line }`: { $error }
abort-shell-status = команда оболочки `{ $line }` завершилась с ошибкой: { $status }
abort-shell-no-output = { $command }: команда оболочки ничего не вывела; она должна напечатать целое число
abort-shell-not-integer = { $command }: команда оболочки должна напечатать целое число (а не `{ $line }`)


### Команда export: export-

export-no-directory = не удалось создать каталог { $path }: { $error }
export-failed = не удалось записать { $path }: { $error }
export-incomplete = файл { $path } неполон: { $error }
export-overwrites-run = { $path } — файл самого прогона; отчёт уничтожил бы его
export-overwrites-run-hint = задайте в --out другой файл или - для стандартного вывода


### Команда stack: stack-

stack-is-up = { $name } работает { $since }
stack-starting = { $name } запускается { $since }: { $activity }
# Подписи длиной не более 13 знаков.
stack-file = файл
stack-cell = ячейка
stack-holder = держатель
stack-stops-in = остановится
stack-address = адрес
stack-application = приложение
stack-superuser = суперпольз.
stack-console = консоль
stack-statistics = статистика
stack-limits = ограничения
stack-not-limited = БЕЗ ПРЕДЕЛА
stack-program = программа
stack-log = журнал

stack-process = процесс { $pid }
stack-running = работает{ $pid ->
    [none] {""}
   *[other] , процесс { $pid }
 }
stack-ended = ЗАВЕРШИЛСЯ: { $reason }
stack-attached = внешний: pgdyno его не запускал и не останавливает
stack-process-gone = его процесса больше нет

stack-how-to-stop = Остановить:  pgdyno stack down { $name }
stack-down = { $name }: остановлен, ничего не осталось
stack-none = работающих стендов нет
stack-silent = процесс, который держит { $name }, не отвечает
stack-silent-hint = посмотрите { $log }; если завершить процесс `pgdyno stack hold { $name }`, стенд тоже остановится
stack-not-found = нет работающего стенда { $which }
stack-not-found-hint = pgdyno stack status показывает работающие стенды, pgdyno stack up ФАЙЛ запускает новый
stack-exists = стенд { $name } уже работает
stack-exists-hint = pgdyno stack status { $name } показывает его, pgdyno stack down { $name } останавливает, --name запускает ещё один
stack-name-invalid = «{ $name }» не подходит как имя стенда
stack-name-hint = имя состоит из 1–64 символов a-z, 0-9 и -, например --name=my-stack
stack-cell-unknown = нет ячейки «{ $wanted }»
stack-one-cell = в файле одна ячейка: --cell не нужно
stack-axis = { $axis }: { $values }
# Между значениями оси.
stack-or = {" "}или{" "}
stack-holder-failed = не удалось запустить процесс, который держит стенд: { $error }
stack-holder-ended = процесс, который держит стенд, завершился до его готовности
stack-passwords-failed = не удалось записать файл паролей: { $error }

stack-directory-unusable = { $path } использовать нельзя: { $reason }
stack-directory-hint = удалите его или задайте в XDG_RUNTIME_DIR каталог, доступный только вам
stack-no-directory = это не каталог
stack-other-owner = принадлежит другому пользователю
stack-other-users = доступен другим пользователям
stack-lifetime = это не длительность
    .help = напишите целое число и `s`, `m` или `h`, например `2h`
stack-no-log = это не журнал стенда pgdyno


### Команда demo: demo-

demo-begins = Вопрос: сколько отчётов в секунду по { $rows } строкам выдерживает временный сервер PostgreSQL?


### Команда advise: advise-

advise-attached = прогон измерял внешнюю базу данных, а pgdyno такие базы не меняет
advise-attached-hint = измерьте копию: стенд, который запускает pgdyno, с набором данных
advise-no-index = ни один индекс не поможет запросам этого прогона
advise-no-dataset = в прогоне нет набора данных, который можно скопировать
advise-no-dataset-hint = добавьте в файл эксперимента раздел dataset


### Команда run: run-

run-no-signals = не удалось обработать Ctrl-C: { $error }
run-no-stop-requests = не удалось следить за запросами на остановку: { $error }
run-end-lost = { $error }; конец прогона потерян
run-end-lost-hint = записанное раньше можно прочитать:  pgdyno runs show { $path }
run-untrusted-file = файл { $path } мог создать другой пользователь: { $reason }; были бы выполнены запросы и команды из него
run-untrusted-file-hint = посмотрите их:  pgdyno report { $file } ; затем станьте владельцем файла и выполните  chmod 600 { $file }
run-other-server = stack.{ $node }{ $address ->
    [none] {""}
   *[other] {" "}({ $address })
 } ведёт не на тот сервер, что в прежних измерениях этого запуска: сейчас это { $now }, а было { $before }; измерения разных серверов нельзя сравнивать; начните новый запуск или верните адрес первому серверу
run-server-identity = PostgreSQL { $version }, идентификатор системы { $system ->
    [none] неизвестен
   *[other] { $system }
 }, база данных "{ $database }"
run-other-version = stack.{ $node }{ $address ->
    [none] {""}
   *[other] {" "}({ $address })
 }: сейчас { $now }, а в прежних измерениях этого запуска было { $before }; измерения разных серверов нельзя сравнивать; начните новый запуск
run-set = напишите  { $set }
run-quick = --quick лишь проверяет, что эксперимент работает: для результата измерений слишком мало{ $least ->
    [none] {""}
   *[other] , а различие ячеек требует не меньше { $least } измерений каждой
 }; чтобы получить результат, запустите файл без --quick
run-load-ended = нагрузка закончилась раньше времени
run-setup-stopped = остановлено
run-data-cache-number = { $name } имеет значение { $value }, а это не число от 0; напишите число, например { $example }
run-resumed-kept = этот прогон нельзя продолжить: его измерения зависят от данных, которых больше нет (`keep` или `from`); повторите его
run-resumed-benchmark = прогон `pgdyno bench` нельзя продолжить; измерьте заново
run-other-owner = он принадлежит другому пользователю
run-other-mode = его права доступа { $mode }, а не 0600


### Проверка операций перед первым измерением: preflight-

# Так psql подписывает строку команды. Дальше следуют пробел и строка.
preflight-line = СТРОКА { $line }:
preflight-similar-name = возможно, имелось в виду { $name }
preflight-no-tables = в базе данных нет таблиц; добавьте раздел dataset или подключите базу с этими таблицами
preflight-correct-operation = исправьте операцию; чтобы измерить её как есть, задайте ей  preflight: false
preflight-correct = исправьте команду; чтобы измерить её как есть, задайте операции  preflight: false
preflight-errors = { $count ->
    [one] { $count } ошибка операций
    [few] { $count } ошибки операций
   *[other] { $count } ошибок операций
 }; { $measured ->
    [true] прогон заканчивается перед следующим измерением
   *[false] измерения не начаты
 }
preflight-stopped = операция следующего измерения не может быть успешной


### Команда try: try-

try-cell = ячейка { $number } из { $count }: { $name }
try-operation = операция { $name }
try-succeeded = успешно, { $time }
try-failed = ошибка: { $reason }
try-unfinished = отменена, потому что заняла слишком много времени
try-more-rows = { $count ->
    [one] и ещё { $count } строка
    [few] и ещё { $count } строки
   *[other] и ещё { $count } строк
 }
try-body-length = размер тела { $bytes }
try-replay = `pgdyno try` выполняет операции, а у нагрузки с `traffic` их нет: запросы содержатся в записи
try-unknown-operation = в файле нет операции «{ $name }»
try-operations = { $nearest ->
    [none] операции: { $all }
   *[other] напишите { $nearest }; операции: { $all }
 }


### Команды serve и run --live, метрики для Prometheus: site-

site-running = { $url } показывает прогоны из { $directory }; Ctrl-C останавливает сервер
site-live = страница прогона: { $url }
site-no-directory = каталога «{ $directory }» нет
site-no-directory-hint = его создаёт pgdyno run; другой каталог задаёт --dir
site-failed = не удалось запустить сервер: { $error }
site-cannot-listen = не удалось открыть { $address }: { $error }
site-cannot-listen-hint = --port задаёт другой порт, --port 0 — любой свободный
site-reachable = адрес { $address } доступен с других машин
site-needs-token = адрес { $address } доступен с других машин, поэтому нужен токен
site-needs-token-hint = задайте токен в --token-file или PGDYNO_TOKEN либо уберите --host
site-prometheus-hint = добавьте --prometheus-anyone, чтобы это разрешить, или укажите 127.0.0.1
site-token-unreadable = не удалось прочитать токен из { $path }: { $error }
site-token-short = токен короче { $characters ->
    [one] { $characters } символа
   *[other] { $characters } символов
 }
site-token-short-hint = создайте его, например:  head -c 24 /dev/urandom | base64 > token
site-no-browser = не удалось открыть браузер программой xdg-open: { $error }


### Matrix of cells: matrix-

# Заголовки не шире 12 знаков.
matrix-tps = транз/с
    .requests = запр/с
matrix-p50 = p50, мс
matrix-p99 = p99, мс
matrix-requests = запросы
matrix-failed-requests = ошибок
matrix-replication-lag = отст., мс
matrix-errors = ошибки/1000
matrix-dropped = отброш./1000
matrix-refused = отказов
matrix-deadlocks = дедлоки/1000
matrix-served = обслужено
matrix-starved = обделено
matrix-pooler-cpu = ЦП пулера
matrix-server-cpu = ЦП PG
matrix-time-to-steady = разгон, с
# Выводы не шире 14 знаков.
matrix-no-evidence = не доказано
matrix-lower = ниже
matrix-higher = выше
matrix-too-few-runs = мало измерений

matrix-unix = Unix-сокет
matrix-tcp = TCP
matrix-tls = TLS
matrix-attached-transport = как указано в адресе
# Вместо ЦП и квоты узла.
matrix-attached = подключён
matrix-generator = генератор
# Режим пула: сам по себе и после слова «режим».
matrix-session = режим сеансов
matrix-transaction = режим транзакций
matrix-statement = режим операторов
matrix-session-mode = сеансов
matrix-transaction-mode = транзакций
matrix-statement-mode = операторов
matrix-pool-size = пул { $size }
matrix-slots = { $size ->
    [one] { $size } слот
    [few] { $size } слота
   *[many] { $size } слотов
 }
matrix-maxconn = maxconn { $size }
# Между номерами ядер.
matrix-cpu-separator = ,{" "}
# Квота ЦП и номера ядер; `count` — число ядер.
matrix-placement = { $quota ->
    [none] { $count ->
        [0] любые ядра
        [1] на ядре { $numbers }
       *[other] на ядрах { $numbers }
     }
   *[other] { $count ->
        [0] { $quota }{"\u00A0"}ЦП
        [1] { $quota }{"\u00A0"}ЦП на ядре { $numbers }
       *[other] { $quota }{"\u00A0"}ЦП на ядрах { $numbers }
     }
 }

matrix-nothing-measured = ничего не измерено
matrix-interrupted = прервано
matrix-skipped = пропущено: { $reason }
matrix-failed = не удалось: { $reason }
matrix-left-out = не учтено { $left_out ->
    [one] { $left_out } измерение
    [few] { $left_out } измерения
   *[many] { $left_out } измерений
 } из { $total }: { $reason }
matrix-limits-not-applied = измерено без ограничений, которые не удалось применить: { $limits }: { $reason }
matrix-legend = медианы достоверных измерений и их доверительные интервалы 95{"\u00A0"}%{ $baseline ->
    [none] {""}
   *[other] ; отношение — к { $baseline }: критерий по измерениям, тот же, что при сравнении прогонов, доля ложных открытий 5{"\u00A0"}%, интервалы — бутстрепом с seed { $seed }
 }{ $too_few ->
    [true] ; чтобы показать различие, нужно не меньше четырёх измерений на ячейку
   *[false] {""}
 }
matrix-watching = мониторинг занял { $share } ЦП


### Findings: finding-

# Начала абзацев: общее для находок одного рода.
finding-slots-role = PostgreSQL отказывал в подключении: исчерпан предел подключений роли
finding-slots-database = PostgreSQL отказывал в подключении: исчерпан предел подключений базы данных
finding-slots = в PostgreSQL кончились слоты подключений{ $max_connections ->
    [none] {""}
   *[other] {" "}(max_connections { $max_connections })
 }
finding-starved = обслужена только часть клиентов, и среднее это скрывает (индекс Джейна; 1 — всем поровну)
finding-starved-pool = среднее скрывает, что за пулом из { $size ->
    [one] { $size } соединения
   *[other] { $size } соединений
 } в режиме { $mode } обслужена только часть клиентов
finding-not-compared = не участвуют в сравнениях
finding-host-bound = все ЦП этой машины ({ $processors }) были насыщены, поэтому результаты зависят и от того, какому процессу достался ЦП
finding-generator-share = генератор занял заметную часть ЦП этой машины (всего { $processors })
finding-like-for-like = пропускная способность относительно прямой ячейки, с одним и тем же транспортом на всех участках
# `with` — unix, tcp или tls; `transports` — список.
finding-unlike = при разном транспорте, { $transports } против { $with ->
    [unix] Unix-сокета
    [tcp] TCP
   *[tls] TLS
 }, вышло бы (в скобках — при одинаковом)
finding-no-difference = не доказано, что режим пула меняет пропускную способность
finding-queue-pooler = очередь в { $node }; ждущие клиенты (по его консоли), самое долгое ожидание, занятые сеансы PostgreSQL
finding-queue-pooler-unknown = очередь в { $node } (его консоль не сообщает о ждущих клиентах); транзакции в работе, занятые сеансы PostgreSQL
finding-queue-balancer = очередь в { $node }{ $maxconn ->
    [none] {""}
   *[other] {" "}(maxconn { $maxconn })
 }; ждущие соединения и их среднее ожидание
finding-pooler-bound = ЦП узла { $node } загружен полностью; его консоль показывает занятый пул, но запросы выполняют лишь немногие из соединений с сервером
finding-pool-bound = у { $node } заняты соединения с сервером, и клиенты их ждут, а его ЦП загружен не полностью
finding-pool-bound-by-setting = у { $node } заняты все соединения с сервером, которые разрешает { $setting } ({ $pool }), и клиенты их ждут, а его ЦП загружен не полностью
finding-server-bound = ЦП узла { $node } загружен полностью
finding-server-queue = сеансы узла { $node } ждут ЦП, который в другое время простаивает
finding-sessions-wait = большинство активных сеансов PostgreSQL ждало { $event }
finding-failures = транзакции завершились ошибкой { $code }{ $name ->
    [none] {""}
   *[other] {" "}{ $name }
 }
    .requests = запросы завершились ошибкой { $code }{ $name ->
        [none] {""}
       *[other] {" "}{ $name }
     }
finding-deadlocks = взаимных блокировок на тысячу транзакций
finding-not-concurrent = где в PostgreSQL было в работе { $busy } транзакции
finding-not-open = достигнут предел одновременных транзакций ({ $clients }), поэтому тест перестал быть открытым
finding-sizes = ответы на { $request } различаются размером, хотя их статус ожидаемый; проверьте, не страницы ли ошибки или входа маленькие из них, и укажите текст, который ответ должен содержать
finding-sizes-below-recorded = ответы на { $operation } меньше половины записанных в логе; проверьте, не страницы ли это ошибки или входа
finding-sizes-above-recorded = ответы на { $operation } более чем вдвое больше записанных в логе; записанные могли быть сжаты
finding-recorded-status = у ответов на { $operation } не тот статус, что записан в логе
finding-replay-diverged = результаты воспроизведённого запроса { $operation } отличаются от записанных
finding-requests-missing = нагрузка отправляет не все запросы из журналов
finding-recorded-times = время ответа { $operation }: в журнале это время сервера без сети, поэтому времена не сравниваются
finding-replay-as-recorded = все результаты воспроизведения совпали с записанными
finding-no-rows = операция { $operation }, команда { $command }: { $statement ->
    [none] несколько операторов сразу
   *[other] { $statement }
 } — ни одной строки; проверьте, есть ли такие ключи и не пусты ли таблицы
finding-no-rows-expected = операция { $operation }, команда { $command }: { $statement ->
    [none] несколько операторов сразу
   *[other] { $statement }
 } — ни одной строки; возможно, так и должно быть
finding-clients-left = у { $node } остались клиенты после окончания нагрузки
finding-open-closed = закрытый тест скрывает ожидание пользователей, которые продолжают приходить
finding-logins-differ = подключений к PostgreSQL во много раз больше, чем в другой ячейке с теми же операциями. Каждое подключение запускает процесс и проверяет пароль, поэтому часть разницы в ЦП PostgreSQL и времени ответа — из-за подключений. Не закрывайте соединения или поставьте перед PostgreSQL пулер
finding-feeds-differ = результат зависит от ленты данных { $feed }

# Абзацы.
finding-paragraph = { $begin }: { $cells }
finding-table = { $begin }:
finding-shares = { $begin }; { $cells }
finding-deadlocks-beside = число взаимных блокировок нельзя сравнивать с { $cell }, { $begin }: { $cells }
finding-and = {" "}и{" "}

# Одна ячейка абзаца.
finding-slots-cell = { $cell } (отказов { $refused }, по журналу { $logged }{ $first ->
    [none] {""}
   *[other] , впервые на секунде { $first }
 }{ $some })
finding-starved-cell = { $cell } { $served } из { $clients } ({ $hardly ->
    [0] {""}
   *[other] ещё { $hardly } — почти никак,{" "}
 }индекс Джейна { $jain })
finding-figures-cell = { $cell } ({ $figures })
finding-figure-cell = { $cell } { $figure }
finding-unlike-cell = { $cell } { $change } ({ $like })
# Режимов нет (none), если они названы в именах ячеек.
finding-no-difference-cell = { $cell } против { $with }{ $mode ->
    [none] {""}
   *[other] {" "}({ $mode } против режима { $with_mode })
 } { $change }
finding-change = { $change }{ $interval ->
    [none] {""}
   *[other] {" "}(95{"\u00A0"}%: { $interval })
 }
finding-queue-cell = { $cell } ({ $figures })
finding-in-use = занято { $in_use } из { $pool }
finding-running = выполняют { $active }
finding-runnable = выполняются или ждут ЦП { $sessions } сеанса
finding-busy-server = заняты в PostgreSQL { $busy }
finding-cpu = ЦП { $used } из { $limit }
finding-throttled = упирался в квоту ЦП (throttling) в { $share } периодов
finding-stalled = потеряно из-за квоты { $cpu }{"\u00A0"}ЦП
finding-sessions-cell = { $cell } { $share } из { $active }
finding-failures-cell = { $cell } { $count } из { $total }
finding-deadlocks-cell = { $cell } { $rate } ({ $interval ->
    [none] {""}
   *[other] 95{"\u00A0"}%: { $interval };{" "}
 }{ $runs ->
    [one] { $runs } измерение
    [few] { $runs } измерения
   *[many] { $runs } измерений
 })
finding-not-open-cell = { $cell } (ждали клиента { $waited }, отброшено { $dropped } из { $arrivals ->
    [one] { $arrivals } заявки
   *[other] { $arrivals } заявок
 }{ $some })
finding-sizes-fell = { $cell } — медиана { $before }, с { $second }-й секунды { $after } ({ $share } всех)
finding-sizes-two = { $cell } — { $share } около { $small }, остальные { $large }
finding-sizes-smaller = { $cell } — медиана { $here }, { $with } — { $there }
finding-sizes-recorded = { $cell } — { $share }, медиана { $here }, в логе { $recorded }
finding-recorded-status-cell = { $cell } — у { $share } из { $count ->
    [one] { $count } ответа
   *[other] { $count } ответов
 }
finding-replay-diverged-cell = { $cell } из { $results ->
    [one] { $results } результата
   *[other] { $results } результатов
}: { $differences }
finding-replay-difference = { $kind ->
    [failed] ошибка вместо успеха — { $count }
    [succeeded] успех вместо ошибки — { $count }
    [error] другая ошибка — { $count }
    [fewer] строк меньше — { $count }
   *[more] строк больше — { $count }
}
finding-requests-missing-cell = { $cell } — недостаёт { $share } ({ $missing } из { $recorded })
finding-recorded-times-cell = { $cell } — в журнале { $recorded } (n = { $count }), при этой нагрузке { $measured }
finding-recorded-times-quantiles = p50 { $p50 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }
 }
finding-replay-as-recorded-cell = { $cell } { $results ->
    [one] { $results } результат
    [few] { $results } результата
   *[other] { $results } результатов
}, из них с записанным числом строк — { $rows }
finding-no-rows-cell = { $cell } — в { $share } из { $count ->
    [one] { $count } выполнения
   *[other] { $count } выполнений
 }{ $second ->
    [none] {""}
   *[other] , с { $second }-й секунды
 }
finding-clients-left-cell = { $cell } { $clients }{ $some }
finding-open-closed-cell = { $with } — { $closed }; { $cell }, где предложено { $offered }, — { $open }
finding-logins-cell = { $cell } — подключений в секунду { $rate }{ $cpu ->
    [none] {""}
   *[other] , PostgreSQL { $cpu }{"\u00A0"}ЦП
 }; { $with } — { $with_rate }{ $with_cpu ->
    [none] {""}
   *[other] , PostgreSQL { $with_cpu }{"\u00A0"}ЦП
 }
finding-feeds-cell = { $cell } — { $response }{ $read ->
    [none] {""}
   *[other] {" "}({ $read })
 }; { $with } — { $with_response }{ $with_read ->
    [none] {""}
   *[other] {" "}({ $with_read })
 }
finding-response = { $p99 ->
    [none] { $rate }
   *[other] p99 { $p99 } при { $rate }
 }
# Об измерениях ячейки; ничего, если так было во всех.
finding-some-trials = , в { $trials ->
    [one] { $trials } измерении
   *[other] { $trials } измерениях
 } из { $total }

finding-left-out-slots = в подключении отказано в { $cells }
finding-left-out-starved = клиенты обделены в { $cells }
finding-left-out-errors = больше 1{"\u00A0"}% ошибок в { $cells }
    .requests = больше 1{"\u00A0"}% ошибок в { $cells }
finding-left-out-cell = { $cell }{ $failed ->
    [none] {""}
   *[other] {" "}({ $failed })
 }
finding-unlike-many = { $changes } ({ $like }) в { $cells }

# Кто занимал ЦП: в списке ячеек и в диапазоне по ячейкам.
finding-used-generator = генератор { $cpus }
finding-used-before = узлы перед PostgreSQL { $cpus }
finding-used-server = PostgreSQL { $cpus }
finding-used-others = другие процессы { $cpus }
finding-range-generator = генератор { $cpus }
finding-range-before = узлы перед PostgreSQL { $cpus }
finding-range-server = PostgreSQL { $cpus }
finding-range-others = другие процессы { $cpus }
finding-shares-all = во всех ячейках заняли: { $used }
finding-shares-all-but = во всех ячейках, кроме { $cells } заняли: { $used }
finding-shares-these = в { $cells } заняли: { $used }


### Causes of limits: bound-

bound-service = ЦП узла { $node } загружен полностью
bound-service-pool = все соединения { $node } ({ $pool }) заняты, и запросы ждут свободного
bound-service-threads = все потоки или процессы { $node }{ $pool ->
    [none] {""}
   *[other] {" "}({ $pool })
} заняты, и запросы ждут свободного
bound-host-cpu = ЦП хоста { $host } полностью загружены (узлы: { $nodes })
bound-reads = { $node } ждёт чтения с диска
bound-writes = { $node } ждёт записи на диск
bound-memory = { $node } занимает всю свою память и снова читает вытесненные страницы
bound-wal-flush = фиксация транзакций ждёт записи журнала на диск
bound-sync-replicas = фиксация транзакций ждёт реплик
bound-row-locks = транзакции ждут строк друг друга
bound-locks-advisory = транзакции ждут рекомендательных блокировок
bound-locks-relation = транзакции ждут блокировок таблиц
bound-locks-extend = транзакции ждут друг друга, чтобы расширить таблицу или индекс
bound-locks-object = транзакции ждут блокировок объектов базы данных
bound-locks-buffer-pin = транзакции ждут буферов, закреплённых другими сеансами
bound-locks-heavyweight = транзакции ждут блокировок вида { $name }
bound-locks-lightweight = сеансы ждут лёгкой блокировки { $name }
bound-avoidable-work = PostgreSQL делает лишнюю работу: { $work }
bound-result-reading = сеансы ждут, пока клиенты прочитают результаты запросов
bound-delayed-acknowledgements = время ответа держится у 40{"\u00A0"}мс, как при отложенных подтверждениях TCP, хотя запросы PostgreSQL быстрые
bound-scans = таблица { $table } раз за разом читается последовательным сканированием
bound-checkpoints = во время нагрузки идут контрольные точки
bound-clients = ничто не насыщено: клиенты замкнутого цикла ({ $clients }), каждый из которых ждёт своего ответа, не создают большей нагрузки

# Показатели одной ячейки.
bound-in-use = занято { $busy } из { $size }
bound-busy = занято { $busy } из { $size }
bound-waiting = ждут { $waiting }
bound-had-to-wait = ждать пришлось { $share } запросов
bound-per-second = в секунду { $rate }{ $quota ->
    [none] {""}
   *[other] {" "}из { $quota }
 }
bound-sessions-wait = ждут { $share } активных сеансов
bound-memory-used = занято { $used } из { $limit }
bound-memory-read = { $read } с диска на транзакцию
bound-sessions = { $share } из { $active } активных сеансов
bound-longest = не дольше { $time }
bound-statements = запросы: { $statements }
bound-scans-each = { $scans } на транзакцию
bound-scan-rows = строк за просмотр: { $rows }
bound-scan-cpu = ЦП PostgreSQL занят на { $share }
bound-checkpoints-requested = из-за объёма журнала { $count }
bound-checkpoints-share = запись идёт { $share } времени
bound-checkpoints-full-pages = { $share } WAL — образы полных страниц
bound-temporary-files = на транзакцию файлов { $files }, всего { $bytes }
bound-share-of-server = { $share } времени PostgreSQL
bound-planning = { $time } на план
bound-empty-pages = каждое из { $scans } сканирований на транзакцию читает { $size }, хотя строкам нужно только { $needed }
bound-subtransactions = номеров транзакций на транзакцию { $ids }
bound-dead-rows = мёртвых версий строк { $dead }, живых строк { $live }
bound-changed-rows = изменено строк после последнего ANALYZE: { $changed }, живых строк { $live }
bound-autovacuum = рабочих процессов { $workers }, это { $share } процессов, которые работают или ждут процессор
bound-grown-table = таблица выросла после последнего VACUUM или ANALYZE в { $growth } раза
bound-rows-read = на транзакцию прочитано строк { $read }, возвращено или изменено { $returned }
bound-toast-blocks = { $toast } из { $blocks } блоков на транзакцию
bound-unused-indexes = индексов { $indexes }, записано строк на транзакцию { $rows }
bound-foreign-key = на транзакцию удалено строк { $deletes }, прочитано { $read }
bound-repeated-statement = { $statements ->
    [1] выполнений на транзакцию { $calls }, это { $share } времени всех запросов
   *[other] выполнений на транзакцию { $calls } (разных запросов { $statements }), это { $share } времени всех запросов
 }
bound-large-result = строк на выполнение { $rows }, это { $share } времени всех запросов
bound-function = вызовов на транзакцию { $calls }, по { $time }
bound-old-snapshot = снимку { $age }; мёртвых версий строк сначала { $first }, в конце { $last }
bound-server-time = запросы в PostgreSQL { $time }
bound-checkpoints-slowed = пропускная способность во время контрольных точек { $change }
bound-clients-rate = { $rate } из возможных { $most }
bound-clients-mean = в среднем { $time }
bound-clients-idle = свободно { $share } ЦП PostgreSQL


### Circumstances of findings: circumstance-

circumstance-feed-cached = набор данных, которые выбирает лента { $feed }, целиком помещается в кэш: измерен кэш; её разные значения ({ $distinct }) выбирают { $touched } из { $bytes }, память сервера { $memory }
circumstance-chained-pools = два пула подряд: у { $service } соединений { $connections }, а у { $pooler } за ним — { $pool }
circumstance-deadlock-statements = взаимные блокировки между одними и теми же командами. Пусть эти транзакции блокируют строки в одном порядке, например по возрастанию ключа, и будут короткими
circumstance-hidden-deadlocks = PostgreSQL насчитал взаимные блокировки, которых клиенты не видели: сервис или его драйвер повторил транзакции или вернул другую ошибку. Каждая стоила не меньше `deadlock_timeout` и одной транзакции. Пусть все транзакции блокируют строки в одном порядке, а сервис пишет их ошибки в журнал
circumstance-no-free-slots = в PostgreSQL не было свободных мест для соединений, хотя об отказе в подключении ни один клиент не сообщил. Новые подключения отвергаются; сервис может скрыть это от клиентов. Уменьшите пулы перед PostgreSQL или увеличьте max_connections
circumstance-active-collapse = число активных клиентов падает при постоянной нагрузке: у PostgreSQL меньше работы, а запросы ждут перед ним
circumstance-sessions-lost = сеансы PostgreSQL оборвались, по его собственным счётчикам. Причины — в журнале сервера
circumstance-uneven-copies = { $balancer } распределяет запросы между копиями { $service } неравномерно. Копия, у которой запросов больше, раньше других достигает своих пределов. Выясните, почему копия была не готова: запросы идут копиям по очереди, но только тем, чья страница готовности возвращает 200
circumstance-connection-storm = всё время открываются новые соединения или отменяются запросы
circumstance-generator-late = измерения не в счёт, потому что пределом были генератор или его машина
circumstance-noisy-host = шумная машина: отнятый ЦП (steal) или потоки просыпались с опозданием
circumstance-trial-trends = изменение показателей от первого измерения к последнему, так как данные между измерениями не восстанавливаются
circumstance-bloat = { $grown ->
    [true] неубранные версии строк
   *[false] во время нагрузки выполнялась очистка таблиц
 }
circumstance-idle-transactions = сеансы PostgreSQL простаивают в транзакции дольше секунды и удерживают блокировки и соединение пула. Неисправен клиент или медлителен, не видно; более короткие простои не учтены
circumstance-littles-law = число транзакций в { $node } не равно пропускной способности, умноженной на время в нём (закон Литтла): часть не закончилась или учтена в другом месте
circumstance-data-changed = измерения одной ячейки застали на подключённом сервере разные данные, поэтому они не повторяют друг друга
circumstance-not-used = нагрузка не прошла через { $node }: он насчитал намного меньше транзакций, чем завершили клиенты, или ни одной. Либо нагрузка прошла другим путём, либо это счётчики другого узла. Поэтому { $node } не называется пределом
circumstance-no-session = нагрузка не прошла через { $node }: пока клиенты завершали транзакции, в нём не было ни одного сеанса. Либо нагрузка прошла другим путём, либо это счётчики другого узла. Поэтому { $node } не называется пределом
circumstance-error-origins = чьи сеансы вызвали ошибки в журнале PostgreSQL
circumstance-not-judged = не оценено: { $rules }
circumstance-not-judged-because = { $rules } ({ $reason })

# Показатели одной ячейки.
circumstance-trial-trend = { $figure } { $first } → { $last }, { $direction ->
    [rises] растёт
    [falls] падает
   *[none] изменение не доказано
 } (изменение { $interval })
circumstance-trend-trials = измерений: { $trials }
circumstance-assignments = серверное соединение назначалось { $times } раза на транзакцию
circumstance-sets = команд SET на транзакцию { $sets }
circumstance-deadlock-group = в журнале { $count } из { $total } между { $statements }{ $relations ->
    [none] {""}
   *[other] {" "}на { $relations }
 }, ожидание { $locks }; первая через { $time }{ $trial ->
    [none] {""}
   *[other] {" "}в измерении { $trial }
 }{ $kinds ->
    [1] {""}
   *[other] ; разных сочетаний команд { $kinds }
 }
circumstance-deadlocks-counted = сервер насчитал { $counted } в { $databases }, клиенты видели { $clients }
circumstance-collapse = { $change }, начиная с секунды { $second }{ $trial ->
    [none] {""}
   *[other] {" "}измерения { $trial }
 } в течение { $duration } при { $rate }/с; выполнялось { $first }, затем { $last }{ $evidence ->
    [none] ; журналы и счётчики не показывают причины
   *[other] ; в это время { $evidence }: вероятно, сервис по таймауту закрывает соединения или отменяет команды и открывает новые соединения; увеличьте таймауты или сохраняйте соединения
 }{ $trial ->
    [none] {""}
   *[other] ; измерений { $trials } из { $total }
 }
circumstance-collapse-clients = активных клиентов { $node } { $before }, затем { $during }
circumstance-collapse-sessions = активных сеансов { $node } { $before }, затем { $during }
circumstance-collapse-cancelled = отменено команд: { $count }
circumstance-collapse-closed = закрыто сеансов PostgreSQL: { $count }
circumstance-collapse-logins = подключений в секунду было { $before }, стало { $during }
circumstance-slots-full = в { $share } отсчётов, не больше { $sessions } сеансов
circumstance-sessions-fatal = из-за неустранимой ошибки: { $count }
circumstance-sessions-killed = завершены администратором или остановкой: { $count }
circumstance-sessions-abandoned = потеряно соединение клиента: { $count }
circumstance-in-databases = { $figures }, базы: { $databases }
circumstance-copy-share = { $node } { $share }
circumstance-copy-shares = { $shares }, всего запросов { $requests }
circumstance-logins = подключений в секунду { $rate }, на транзакцию { $each }
circumstance-cancelled = отменено { $count } из 1000 транзакций
circumstance-trials = { $cell } { $trials } из { $total }
circumstance-stolen = отнято ЦП { $cpus }
circumstance-late-timers = таймеры опаздывали на { $time } по p99
circumstance-dead-rows = в первом из { $trials ->
    [one] { $trials } измерения
   *[other] { $trials } измерений
 } { $first }, в последнем { $last }, живых строк { $live }
circumstance-vacuums = убрано таблиц за измерение: { $count }
circumstance-idle-sessions = в среднем сеансов: { $sessions }
circumstance-idle-longest = самый долгий простой { $time }
circumstance-idle-horizon = из них мешают VACUUM { $sessions }
circumstance-idle-blocked = сеансов, ждущих их блокировок, { $sessions }
circumstance-idle-pool = клиентов, ждущих пула из { $size }, { $clients }
circumstance-number = в нём { $number } вместо { $expected }
circumstance-time-each = по { $time }
circumstance-data-sizes = объём таблиц от { $least } до { $most }
circumstance-tables-replaced = таблицы созданы, удалены, очищены или переписаны
circumstance-server-restarted = сервер перезапущен
circumstance-counted = он насчитал { $counted } из { $transactions } транзакций, измерений { $trials } из { $total }
circumstance-sessions = сеансов { $counted }, транзакций { $transactions }, измерений { $trials } из { $total }
circumstance-errors = { $kind } { $origin }: { $count }
circumstance-errors-deadlock = взаимных блокировок
circumstance-errors-slots = подключений без свободного слота
circumstance-errors-fatal = фатальных ошибок
circumstance-errors-other = ошибок
circumstance-origin-node = через { $node }
circumstance-origin-direct = напрямую от нагрузки
circumstance-origin-own = от сеансов самого pgdyno
circumstance-origin-other = от { $application } с адреса { $client }
circumstance-origin-unknown = от неизвестных сеансов
circumstance-read = { $blocks ->
    [none] на транзакцию { $disk } с диска
   *[other] { $disk ->
        [none] на транзакцию блоков мимо буферов PostgreSQL { $blocks }
       *[other] на транзакцию блоков мимо буферов PostgreSQL { $blocks } и { $disk } с диска
     }
 }

circumstance-rule-server-cpu = ЦП PostgreSQL
circumstance-rule-pooler-cpu = ЦП пулера
circumstance-rule-balancer-cpu = ЦП балансировщика
circumstance-rule-service-cpu = ЦП сервиса
circumstance-rule-remote-host = ЦП других хостов
circumstance-rule-shared-host = квоты ЦП хостов
circumstance-rule-pool = пул
circumstance-rule-service-pool = соединения сервиса
circumstance-rule-service-threads = потоки сервиса
circumstance-rule-waits = ожидания блокировок, журнала и реплик
circumstance-rule-reads = чтение с диска
circumstance-rule-writes = запись на диск
circumstance-rule-memory = память
circumstance-rule-scans = последовательные сканирования
circumstance-rule-avoidable-work = лишняя работа PostgreSQL
circumstance-rule-result-reading = чтение результатов клиентами
circumstance-rule-checkpoints = контрольные точки
circumstance-rule-storm = подключения
circumstance-rule-bloat = неубранные версии строк
circumstance-rule-idle-transactions = простои в транзакции
circumstance-rule-host = машина
circumstance-rule-feed = помещается ли лента данных в память

circumstance-missing-group = потребление ресурсов машины не измерялось
circumstance-missing-quota = нет квоты
circumstance-missing-server = статистика PostgreSQL недоступна
circumstance-missing-console = консоль пулера недоступна
circumstance-missing-samples = нагрузка была слишком короткой, чтобы опросить консоль пулера под полной нагрузкой
circumstance-missing-stats = сервис не сообщает статистики
circumstance-missing-metrics = метрики хоста недоступны
circumstance-missing-machine = статистика машины недоступна
circumstance-missing-column = ни у одной ленты данных не указан столбец


### Index advice: advice-

advice-rows-read = прочитано строк
advice-remedy = что поможет
advice-plans = { $count ->
    [one] План { $count } запроса
    [few] Планы { $count } запросов
   *[many] Планы { $count } запросов
}
advice-no-index = Ни один новый индекс не даст заметного выигрыша.
advice-no-plans = В этом прогоне нет планов запросов. pgdyno снимает их, если сам запускает PostgreSQL и хотя бы одно измерение завершено.
advice-concurrently = На рабочей базе используйте CREATE INDEX CONCURRENTLY: он не блокирует запись.
advice-applied = Что дали индексы по сравнению с теми же данными без них:
advice-without-planner = Оценено без планировщика: гипотетические индексы он оценить не смог ({ $reason }).

advice-saved-together = По оценке планировщика { $indexes ->
    [1] этот индекс сэкономил
    [one] этот { $indexes } индекс сэкономил
    [few] эти { $indexes } индекса сэкономили
   *[many] эти { $indexes } индексов сэкономили
 } бы { $share } времени всех запросов{ $speedup ->
    [none] {""}
   *[other] ; если узкое место — PostgreSQL, пропускная способность вырастет не более чем в { $speedup } раза
 }.

# Столбец и число его разных значений.
advice-column = { $column }{ $distinct ->
    [none] {""}
    [one] {" "}({ $distinct } уникальное значение)
    [few] {" "}({ $distinct } уникальных значения)
   *[many] {" "}({ $distinct } уникальных значений)
 }
advice-column-and = {" "}и{" "}
advice-descending = { $column } по убыванию
advice-by-value = по значению { $columns }
advice-by-range = по диапазону { $columns }
advice-by-order = в порядке { $columns }
advice-why-index = Ускоряет поиск { $purpose }; в таблице { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 }.
advice-index-saves = Ускорит { $statements ->
    [one] { $statements } запрос
    [few] { $statements } запроса
   *[many] { $statements } запросов
 }{ $share ->
    [none] {""}
   *[other] ; сам по себе сэкономил бы { $share } времени всех запросов
 }.
advice-index-costs = { $size ->
    [none] {""}
   *[other] Займёт около { $size }.{" "}
 }{ $statements ->
    [0] Ни один из запросов с планом его не обновляет.
    [one] Обновлять его придётся { $statements } запросу.
   *[other] Обновлять его придётся { $statements } запросам.
 }{ $not_hot ->
    [0] {""}
    [one] {" "}Из них { $not_hot } меняет его столбец, и HOT-обновления для него станут невозможны.
   *[other] {" "}Из них { $not_hot } меняют его столбец, и HOT-обновления для них станут невозможны.
 }

advice-not-needed = индекс не нужен: большие таблицы целиком не читаются
advice-index = индекс
advice-index-number = индекс { $number }: стоимость { $before } → { $after }
advice-vacuum = VACUUM FULL { $table }: живых строк { $live }, мёртвых версий { $dead }, размер { $size }; выясните, почему их не убрала автоочистка
advice-analyze = ANALYZE { $table }: планировщик ожидал { $estimated }, а получил { $actual }, потому что статистика устарела
advice-every-row = индекс не поможет: нужна каждая строка таблицы
advice-most-rows = индекс не поможет: нужно { $share } строк
advice-rewrite = индексу мешает { $obstacle }: { $remedy }
advice-obstacle-cast = приведение { $column } к типу { $type }
advice-obstacle-expression = выражение { $expression }
advice-obstacle-pattern = шаблон для { $column }
advice-obstacle-alternatives = условие «или» по { $columns }
advice-rewrite-cast = сравнивайте { $column } со значениями его собственного типа, не приводя столбец{ $index ->
    [none] {""}
   *[other] , тогда подойдёт индекс { $index }
 }
advice-rewrite-expression = создайте индекс по этому выражению или сравнивайте сам столбец
advice-rewrite-pattern = для начала строки создайте индекс с классом text_pattern_ops, для других шаблонов — индекс GIN расширения pg_trgm
advice-rewrite-alternatives = создайте индекс по каждому из столбцов или объедините два запроса с помощью UNION
advice-condition = условие { $condition } не ускорит ни один индекс типа «B-дерево»
advice-not-taken = ни один индекс, который выбрал бы планировщик, не даёт заметного выигрыша
advice-no-plan = плана нет: { $reason }
# `counted`: число `passed` точное.
advice-scanned = все { $rows } в { $table }, нужно { $counted ->
    [true] { $passed }
   *[false] около { $passed }
 }

advice-applying = { $indexes ->
    [one] { $indexes } индекс строится
    [few] { $indexes } индекса строятся
   *[many] { $indexes } индексов строятся
 } в копии данных, и она сравнивается с данными без них; по { $repeat ->
    [one] { $repeat } измерению
    [few] { $repeat } измерения
   *[many] { $repeat } измерений
 }
advice-index-built = { $ddl }: построен за { $elapsed }, { $size }
advice-statement-changed = в среднем { $before } → { $after } ({ $ratio }{ $writes ->
    [true] ; пишет
   *[false] {""}
 })
advice-heap-only = HOT-обновления: { $before } → { $after } обновлённых строк


### Page: words of its script: web-

web-skip = К содержанию
web-contents = Содержание
web-language = Язык
web-theme = Оформление
web-theme_auto = Системное
web-theme_light = Светлое
web-theme_dark = Тёмное
web-print = Печать
web-good = хорошо
web-doubt = под сомнением
web-bad = плохо
web-baseline = база сравнения
web-trial = Измерение
web-zoom_out = Показать всё время
# Меню, в котором выбирают измерения для общих графиков.
web-overlay = Наложить измерения
web-overlay_help = На графиках будут темп, медиана и p99 выбранных измерений.
web-chart_help = Выделите отрезок мышью, чтобы увеличить его; двойной щелчок возвращает весь график; стрелки двигают курсор
web-time = Время
web-show_table = Показать числа
web-hide_table = Скрыть числа
web-more_rows = Ещё строки
# Свёрнутые графики под остальными.
web-more_charts = Другие графики
web-marks = События
web-evidence = Подтверждение
# Подпись меню тепловой карты.
web-figure = Показатель
web-worse = хуже
web-same = без изменений
web-better = лучше
# Кнопка, которая показывает все столбцы узкой таблицы, и обратная ей.
web-all_columns = Все столбцы
web-few_columns = Меньше столбцов
web-copy = Копировать
web-copied = Скопировано
web-s = { number-seconds }
web-ms = { number-milliseconds }
web-us = { number-microseconds }
web-b = { number-bytes }
web-kib = { number-kibibytes }
web-mib = { number-mebibytes }
web-gib = { number-gibibytes }
web-tib = { number-tebibytes }
web-per_second = { number-per-second }
web-decimal = { number-decimal-separator }
web-thousand = тыс.
web-million = млн
web-now = Текущие значения
web-waiting = Ожидание текущих значений
web-live = Идёт сейчас
web-connecting = Подключение…
web-lost = Связь потеряна, подключаемся снова
web-ended = Прогон окончен
web-stop = Остановить прогон
web-stop_sure = Остановить прогон? Всё измеренное сохранится.
web-stop_no = Продолжить
web-stopping = Останавливаем…
web-stop_failed = Остановить прогон не удалось
web-no_script = Для этой страницы нужен JavaScript, а в этом браузере он выключен. `pgdyno report RUN --format md` напечатает тот же отчёт текстом.
web-cannot_unpack = Этот браузер не может распаковать страницу; подойдёт браузер 2023 года или новее.
# Вместо того, что не поместилось в сводку.
web-left_out = Остальное здесь опущено; оно есть в отчёте HTML.


### Page: headings and sentences: page-

# Заголовки разделов.
page-goals = Цели и нагрузка
page-stack = Система: где тратится время и где очередь
page-results = Результаты по операциям
page-matrix = Все ячейки
# Подпись рисунка с временем ответа по процентилям.
page-response-curve = Время ответа по процентилям: до последнего, за которым есть десять заявок{ $unanswered ->
    [0] {""}
   *[other] ; более высокие неизвестны, заявок без ответа: { $unanswered }
 }
page-charts = Ход измерения
page-statements = Самые дорогие запросы
page-advice = Индексы
page-findings = Выводы
page-doubts = Оговорки
page-environment = Стенд
page-repeat = Как повторить

# Названия фактов.
page-load = нагрузка
page-window = измерялось
page-operations = операции
page-dataset = данные
page-stop-rules = правила останова

# Заголовки столбцов.
page-operation = операция
page-offered = предложено, 1/с
page-delivered = выполнено, 1/с
page-goodput = в срок, 1/с (goodput)
page-failed = ошибок
page-dropped = отброшено
page-failure = ошибка
page-count = число
page-response-time = ответ, { $figure }, мс
page-service-time = обслуживание, { $figure }, мс
page-answer-size = размер, { $figure }
page-answer-sizes = размер ответа
page-statement = запрос
page-step = шаг
page-steps = Шаги операций
page-step-failures = Ошибки по шагам
page-requests = запросов
page-answer-body = начало ответа
page-not-reached = не дошло
page-phase-connect = соединение в среднем, мс
page-phase-tls = TLS в среднем, мс
page-phase-first-byte = до первого байта в среднем, мс
page-phase-transfer = передача в среднем, мс
page-sent = отправлено
page-received = получено
page-calls = вызовов
page-total-seconds = всего, с
page-mean-milliseconds = в среднем, мс
page-mean-in-baseline = в среднем в { $baseline }, мс
page-share-percent = доля,{"\u00A0"}%
page-rows = строк
page-blocks-hit = блоков найдено в кэше
page-blocks-read = блоков прочитано
page-node = узел
page-version = версия
page-program = программа
page-transport = транспорт
page-node-limits = ограничения
page-node-cells = ячейки

# Другие заголовки и названия.
page-all-operations = все
page-command = команда
page-file = файл эксперимента
page-generator = генератор
page-only-cell = единственная ячейка
page-objectives = цели
page-trials = измерения
page-trial = { $cell ->
    [none] {""}
   *[other] { $cell },{" "}
 }измерение { $number }
page-load-stage = ступень
page-load-stages = по ступеням нагрузки
page-load-stage-seconds = измерено, с
page-load-stage-users = { $users ->
    [one] { $users } пользователь
    [few] { $users } пользователя
   *[many] { $users } пользователей
 }
page-load-stage-rate = { $rate }/с
page-load-stage-ramp = от { $from } до { $to }/с
page-load-stages-sustained = Все ступени выдержаны: не более 1 % обращений завершилось ошибкой, в соединениях не отказано, и пропускная способность не падала.
page-load-stage-broke-failed = Система не выдержала ступень { $number } ({ $level }): доля ошибок и отброшенных обращений { $share }.
page-load-stage-broke-refused = Система не выдержала ступень { $number } ({ $level }): { $count ->
    [one] отказано в { $count } соединении
    [few] отказано в { $count } соединениях
   *[many] отказано в { $count } соединениях
 }.
page-load-stage-refused = отказов
page-load-stage-broke-behind = Система не выдержала ступень { $number } ({ $level }): выполнено { $delivered } из { $offered } транзакций в секунду.
page-load-stage-broke-slower = Система не выдержала ступень { $number } ({ $level }): выполнено { $delivered } транзакций в секунду, а с меньшим числом пользователей было { $highest }.
page-initial-connects = Начальное подключение всех клиентов: медиана { $median } мс, максимум { $max } мс ({ $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 }).
page-more-cells = ещё { $count ->
    [one] { $count } ячейка
    [few] { $count } ячейки
   *[many] { $count } ячеек
 }
page-more-trials = ещё { $count ->
    [one] { $count } измерение
    [few] { $count } измерения
   *[many] { $count } измерений
 }
page-all-steps = { $count ->
    [one] { $count } шаг
    [few] { $count } шага
   *[many] { $count } шагов
 }
page-all-cells = все ячейки
page-list = { $first } и { $last }
page-alternatives = { $first } или { $last }

# Короткие факты о прогоне.
page-moment = { $day }.{ $month }.{ $year } { $time } UTC
page-still-running = ещё идёт
page-extent = { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 } в { $cells ->
    [one] { $cells } ячейке
   *[other] { $cells } ячейках
 }
page-seed = seed { $seed }

# Вопросы.
page-question-clients = Какую нагрузку выдерживает { $path } при { $count ->
    [one] { $count } клиенте
   *[other] { $count } клиентах
 }?
page-question-users = Какую нагрузку выдерживает { $path } при { $count ->
    [one] { $count } пользователе
   *[other] { $count } пользователях
 }?
page-question-schedule = Справляется ли { $path } с нагрузкой { $schedule }?
page-question-log = Как { $path } обслуживает запросы из { $feeds }?
load-recorded-log = записанные запросы из { $feeds }, скорость { $speed }, запросов: { $requests } за { $duration }, в среднем { $mean }, не больше { $peak }{ $missing ->
    [none] {""}
   *[other] ; { $missing }
 }
load-missing-requests = недостаёт { $share } записанных запросов ({ $reasons })
load-missing-reason = { $reason ->
    [body] с телом, которого нет в журнале: { $count }
    [request] без допустимого запроса: { $count }
    [misfit] не соответствуют формату: { $count }
   *[time] без времени: { $count }
 }
page-question-replay = Как { $path } обслуживает трафик из { $recording }?
load-replay = воспроизведение { $recording }, скорость { $speed }, запросов: { $requests }, сеансов: { $sessions }
load-recorded-mix = записанные транзакции из { $recording }: { $transactions }, сеансов: { $sessions }{ $unfinished ->
        [0] {""}
       *[other] {" "}(запросов без полной транзакции: { $unfinished })
    }
page-question-axes = Как меняется пропускная способность{ $baseline ->
    [none] {""}
   *[other] {" "}по сравнению с { $baseline }
 }, если менять { $axes }?

# Нагрузка; `count` — последнее из чисел `clients` или `users`.
page-closed-model = закрытая модель
page-open-model = открытая модель
page-clients = { $clients } { $count ->
    [one] клиент
    [few] клиента
   *[many] клиентов
 }
page-users = { $users } { $count ->
    [one] пользователь
    [few] пользователя
   *[many] пользователей
 }{ $rate ->
    [none] {""}
   *[other] {" "}(по { $rate } в секунду)
 }
page-stages = пользователи по ступеням: { $stages }
page-stage = { $users }{ $rate ->
    [none] {""}
   *[other] {" "}(по { $rate } в секунду)
 } на { $duration }
page-thinking = пауза { $time }
page-thinking-exponential = экспоненциальная пауза, в среднем { $mean }
page-thinking-log-normal = логнормальная пауза, медиана { $median }, σ { $sigma }
page-pacing = интервал между началами не меньше { $time }
page-rate-limit = не больше { $rate } в секунду
page-arrivals-even = равномерный поток заявок
page-arrivals-poisson = пуассоновский поток заявок
page-in-flight-cap = в работе не больше { $clients }
page-protocol-simple = простой протокол
page-protocol-extended = расширенный протокол
page-protocol-prepared = подготовленные запросы
page-reconnect = новое соединение на каждую транзакцию
    .requests = новое соединение на каждый запрос
page-timeout = тайм-аут { $time }
page-tries = до { $count ->
    [one] { $count } попытки
   *[other] { $count } попыток
 }
page-trial-window = { $repeat ->
    [1] один раз
    [few] { $repeat } раза
   *[other] { $repeat } раз
 }, { $duration ->
    [none] { $transactions ->
        [none] до конца расписания
        [one] { $transactions } транзакция на клиента
        [few] { $transactions } транзакции на клиента
       *[many] { $transactions } транзакций на клиента
     }
   *[other] { $repeat ->
        [1] {""}
       *[other] по{" "}
     }{ $duration }
 }{ $warmup ->
    [none] {""}
   *[other] {" "}после прогрева в { $warmup }
 }

# Набор данных.
page-data = { $content }; { $cache }; seed { $seed }
page-data-kept = { $data }; каждое измерение начиналось с данных, которые оставило предыдущее
page-data-rows = { $table }, { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 }
page-data-users = { $table }, { $users ->
    [one] { $users } пользователь
    [few] { $users } пользователя
   *[many] { $users } пользователей
 }
page-data-profiles = профили, { $users ->
    [one] { $users } пользователь
    [few] { $users } пользователя
   *[many] { $users } пользователей
 }, по { $each } у каждого
page-data-pgbench = таблицы pgbench, масштаб { $scale }
page-data-dump = дамп { $path }, { $size }
page-data-source = копия { $dsn }
page-data-source-schema = схема { $dsn } без строк
page-data-source-sample = выборка { $percent } % из { $dsn }
page-data-template = копия базы данных { $database }
page-data-delivery = delivery.send и delivery.receive, масштаб { $scale }
page-cache-warm = кэш прогрет
page-cache-cold = кэш холодный
page-cache-as-loaded = кэш после загрузки данных

# Ограничения узла.
page-limit-cpu = { $cpus }{"\u00A0"}ЦП
page-limit-cpus = { $count ->
    [1] на ядре { $cpus }
   *[other] на ядрах { $cpus }
 }
page-limit-memory = память { $size }
page-limit-read-iops = { $rate }{"\u00A0"}чтений/с
page-limit-write-iops = { $rate }{"\u00A0"}записей/с
page-limit-read-rate = чтение { $size }/с
page-limit-write-rate = запись { $size }/с
page-unapplied-limit = { $limit } не ограничен: { $reason }
page-not-limited = ограничение { $limit } не действует

# Узлы чертежа.
page-pool = { $mode }, пул { $size }
page-slots = { $slots ->
    [one] { $slots } слот
    [few] { $slots } слота
   *[many] { $slots } слотов
 }
page-cpu-used = занято { $used }{ $quota ->
    [none] {""}
   *[other] {" "}из { $quota }
 }{"\u00A0"}ЦП
page-throttled = упирался в квоту ЦП (throttling) в { $share } периодов
# Самый занятый ресурс узла.
page-load-cpu = ЦП { $share }
page-load-pool = пул { $used } из { $size }
page-cpu-bound = ЦП загружен полностью
page-pool-bound = пул занят полностью
page-queue-here = очередь здесь
page-busy = в работе { $count }
page-waiting = в очереди { $count }
page-time-per-transaction = { $time } на транзакцию
    .requests = { $time } на запрос
page-server-role = { $name }, { $at_first ->
    [true] сначала{" "}
   *[false] {""}
 }{ $role ->
    [primary] основной
   *[replica] реплика
 }
page-replication-async = WAL, фиксация не ждёт
page-replication-first = журнал, фиксация ждёт { $count ->
    [1] первую
   *[other] первые { $count }
 }
page-replication-any = журнал, фиксация ждёт { $count ->
    [1] любую
   *[other] любые { $count }
 }
page-promotes-most-advanced = повышает самую свежую реплику, если основной сервер не отвечает { $time }
page-promotes-laggard = повышает самую отставшую реплику, если основной сервер не отвечает { $time }
page-no-fencing = не изолирует прежний основной сервер
page-manager-promotes = повышает реплику, если ключ лидера не обновлялся { $time }
page-store-servers = { $store }: { $count ->
    [one] { $count } сервер
    [few] { $count } сервера
   *[many] { $count } серверов
 }
# После пути.
page-with-replicas = , { $count ->
    [one] { $count } реплика
    [few] { $count } реплики
   *[many] { $count } реплик
 } ({ $replication }), повышает { $manager }
# Чертёж словами; `node` — узел с наибольшим временем.
page-drawing = { $path }{ $node ->
    [none] {""}
    [unknown] ; на что уходит большая часть времени транзакции ({ $time }), неизвестно
    [generator] ; больше всего времени транзакция проводит в узле «генератор»: { $time }
   *[other] ; больше всего времени транзакция проводит в узле «{ $node }»: { $time }
 }
    .requests = { $path }{ $node ->
        [none] {""}
        [unknown] ; на что уходит большая часть времени запроса ({ $time }), неизвестно
        [generator] ; больше всего времени запрос проводит в узле «генератор»: { $time }
       *[other] ; больше всего времени запрос проводит в узле «{ $node }»: { $time }
     }

# На что уходит среднее время ответа.
page-time-parts = На что уходит время транзакции
    .requests = На что уходит время запроса
page-time-part = часть
page-time-share = доля
page-time-mean = среднее, мс
page-time-unknown = неизвестно
page-time-running = { $node }: выполнение или ожидание ЦП
page-time-waiting = { $node }: ожидание { $event }
page-time-other-waits = { $node }: другие ожидания
page-time-idle = { $node }: простой в транзакции

# Графики.
page-heat-map = { $figure }{ $baseline ->
    [none] {""}
   *[other] , лучше или хуже, чем в { $baseline }
 }
page-chart-rate = Предложено и выполнено
page-chart-response = Время ответа
page-chart-response-by-operation = Время ответа по операциям
page-chart-response-by-step = Время ответа по шагам
page-chart-failures = Ошибки по кодам
page-chart-in-flight = В работе и в очереди ожидания
page-chart-service-pools = Потоки и соединения сервиса
page-chart-pooler = Пулеры и балансировщики
page-chart-connections = Сеансы PostgreSQL
page-chart-processors = ЦП
page-chart-disk = Диск
page-chart-service-metrics = Метрики сервиса
page-chart-service-counters = Счётчики сервиса, прирост в секунду
page-chart-waits = События ожидания активных сеансов
page-chart-replication-lag = Отставание реплик
page-chart-freshness = Через сколько подтверждённые записи видны на репликах
page-chart-send-lag = Опоздание отправки генератора
page-chart-transactions = Транзакции PostgreSQL
page-chart-locks = Ожидающие запросы блокировок
page-chart-deadlocks = Взаимоблокировки
page-chart-disk-operations = Операции с диском
page-chart-memory = Память
page-chart-host-memory = Доступная память
page-chart-host-load = Средняя загрузка
page-chart-network = Сеть
page-chart-agent-rate = Темп по агентам
page-chart-agent-response = Время ответа по агентам
page-chart-agent-send-lag = Опоздание отправки по агентам
page-chart-agent-processors = ЦП по агентам
page-axis-per-second = в секунду
page-axis-seconds = секунды
page-axis-count = число
page-axis-processors = ЦП
page-axis-bytes = байты
page-axis-bytes-per-second = байты в секунду
page-axis-quantile = процентиль
page-series-offered = предложено
page-series-delivered = выполнено
page-series-users = пользователи (число)
page-series-max = максимум
page-series-failed = ошибки
page-series-unknown = исход неизвестен
page-series-refused = отказано в соединении
page-series-dropped = отброшено
page-series-in-flight = в работе
page-series-waited = ждали клиента
page-series-clients-active = активные клиенты
page-series-clients-waiting = ждущие клиенты
page-series-servers-active = занятые серверы
page-series-servers-idle = свободные серверы
page-series-queue = очередь
page-series-sessions = сеансы
page-series-running = работают
page-series-limit = предел
page-series-processors = занято
page-series-host = вся машина
page-series-read = чтение
page-series-written = запись
page-series-metric = метрика
page-series-waiting = ожидание
page-series-replication-lag = отставание
page-series-visible = видно
page-series-threads-busy = занятые потоки
page-series-threads-waiting = запросы, ждущие потока
page-series-threads-max = потоки, предел
page-series-connections-busy = занятые соединения
page-series-connections-waiting = запросы, ждущие соединения
page-series-connections-max = соединения, предел
page-series-commits = фиксации
page-series-rollbacks = откаты
page-series-locks-waiting = прочие блокировки
page-series-deadlocks = взаимоблокировки
page-series-read-limit = предел чтения
page-series-write-limit = предел записи
page-series-private-memory = собственная память
page-series-group-memory = с общей памятью и кешем страниц
page-series-available-memory = доступно
page-series-load-average = средняя загрузка за минуту
page-series-runnable = задачи, готовые к работе
page-series-blocked = задачи, ждущие диска
page-series-received = принято
page-series-sent = отправлено
page-event-deadlock = взаимная блокировка
page-event-too-many-connections = слоты соединений исчерпаны
page-event-slow-statement = медленный запрос
page-event-fatal = фатальная ошибка
page-event-error = ошибка
page-event-lifecycle = смена состояния
page-event-fault = сбой
page-event-reverted = сбой устранён
page-event-promoted = повышен до основного
page-event-rejoined = вернулся репликой
page-event-other = журнал

# Стенд и причины для сомнений.
page-in-trials = в { $trials } из { $total } измерений: { $text }
page-not-passed = Нагрузка прошла мимо { $nodes }: результаты к ним не относятся.
page-machine-system = система
page-machine-kernel = ядро
page-machine-processor = ЦП
page-machine-processors = число ЦП
page-machine-mainboard = материнская плата
page-machine-memory = память
page-machine-memory-modules = модули памяти
page-machine-disks = диски
page-machine-unknown = неизвестно
page-disk-model-unknown = модель неизвестна
page-disk-virtual = виртуальный диск
page-machine-files = открытые файлы (предел, наибольший предел)
page-machine-ports = локальные порты
page-machine-clock-source = источник времени
page-machine-governor = управление частотой
page-machine-cgroups = контрольные группы

# Rows of statements.
page-without-rows = без строк,{"\u00A0"}%
page-row-count = строк, { $which }


### Page: answers: answer-

answer-not-yet = Ответа пока нет: ни одно измерение не закончено.
answer-nothing = Ответа нет: { $total ->
    [1] единственное измерение
   *[other] ни одно измерение из { $total }
 } не учитывается: { $reason }.
# Ответ одной ячейки.
answer-holds = Выдерживает { $rate }
answer-delivers = Выполняет { $rate }
# Ответы нескольких ячеек.
answer-baseline-holds = { $name } (база сравнения): { $rate }
answer-baseline-delivers = { $name } (база сравнения): { $rate }
answer-not-all-clients = { $rate } (не сравнивается: клиенты получали отказы или простаивали, либо ошибок слишком много)
    .requests = { $rate } (не сравнивается: клиенты получали отказы или простаивали, либо ошибок слишком много)
answer-other = { $name }: { $figures }
answer-best-other = лучшая из остальных — { $name }: { $figures }
answer-best = лучшая — { $name }: { $figures }
answer-worst = худшая — { $name }: { $figures }
answer-keeps-up = с предложенной нагрузкой справляется { $name } — { $figures }
answer-does-not-keep-up = с предложенной нагрузкой не справляется { $name } — { $figures }
answer-keep-up = с предложенной нагрузкой справляются { $count } из { $total } открытых ячеек
answer-highest = наибольшая предложенная нагрузка у { $name } — { $figures }
answer-furthest-behind = сильнее всех отстаёт { $name } — { $figures }

# `whole` — частота, если она целая; дробное число требует родительного падежа: 1,5 транзакции.
answer-rate = { $rate } { $whole ->
    [none] транзакции
    [one] транзакция
    [few] транзакции
   *[many] транзакций
 } в секунду{ $offered ->
    [none] {""}
   *[other] {" "}при предложенных { $offered }
 } { $confidence }
    .requests = { $rate } { $whole ->
        [none] запроса
        [one] запрос
        [few] запроса
       *[many] запросов
     } в секунду{ $offered ->
        [none] {""}
       *[other] {" "}при предложенных { $offered }
     } { $confidence }
answer-rate-of-offered = { $rate }{ $offered ->
    [none] {""}
   *[other] {" "}из { $offered }
 } { $confidence }
answer-confidence = { $low ->
    [none] ({ $trials })
   *[other] (95{"\u00A0"}%: от { $low } до { $high }, { $trials })
 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }
 }
# Ячейка и её собственная база. `comparison` нет, если одна из них не участвует в сравнении.
answer-pair = { $name } выдерживает { $rate } транзакций в секунду, { $baseline } — { $rate_with }{ $comparison ->
    [none] {" "}(не сравнивается: клиентам отказали, они простаивали без соединения или слишком много ошибок)
   *[other] : { $comparison }
 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }{ $p99_with ->
        [none] {""}
       *[other] {" "}против { $p99_with }
    }
 } ({ $trials })
    .requests = { $name } выдерживает { $rate } запросов в секунду, { $baseline } — { $rate_with }{ $comparison ->
        [none] {" "}(не сравнивается: клиентам отказали, они простаивали без соединения или слишком много ошибок)
       *[other] : { $comparison }
     }{ $p99 ->
        [none] {""}
       *[other] , p99 { $p99 }{ $p99_with ->
            [none] {""}
           *[other] {" "}против { $p99_with }
        }
     } ({ $trials })
answer-pair-change = отношение { $ratio }{ $low ->
    [none] {""}
   *[other] {" "}(95{"\u00A0"}% ДИ от { $low } до { $high })
 }, { $verdict }
answer-more-pairs = и ещё { $count ->
    [one] { $count } пара
    [few] { $count } пары
   *[other] { $count } пар
 }
answer-dull-pairs = различие пропускной способности не доказано, пар: { $count }
answer-uncompared = { $count ->
    [one] { $count } ячейку не с чем сравнить: она или её база не измерена
    [few] { $count } ячейки не с чем сравнить: они или их базы не измерены
   *[other] { $count } ячеек не с чем сравнить: они или их базы не измерены
 }
answer-trials = { $count ->
    [one] { $count } измерение
    [few] { $count } измерения
   *[many] { $count } измерений
 }
answer-no-evidence = { $ratio } от базы: различие не доказано
answer-lower = { $ratio } от базы: ниже
answer-higher = { $ratio } от базы: выше
answer-too-few-trials = { $ratio } от базы: слишком мало измерений

answer-objective-met = цель соблюдена
answer-objective-violated = цель НАРУШЕНА
answer-objective-unknown = цель не оценена
answer-objectives-met = соблюдены все цели ({ $total })
answer-objectives-unknown = не оценено целей: { $count } из { $total }
answer-objectives-violated = { $count ->
    [one] НАРУШЕНА { $count } цель
    [few] НАРУШЕНЫ { $count } цели
   *[many] НАРУШЕНО { $count } целей
 } из { $total }

answer-trial-valid = измерение достоверно
answer-trial-doubtful = измерение достоверно, но с оговоркой{ $doubts ->
    [none] {""}
   *[other] : { $doubts }
 }
answer-all-trials-valid = все измерения достоверны
answer-trials-valid = достоверных измерений: { $valid } из { $total }
answer-trials-doubtful = достоверных измерений: { $valid } из { $total }, с оговоркой { $doubtful }{ $doubts ->
    [none] {""}
   *[other] : { $doubts }
 }
answer-worst-doubt = { $text } ({ $trials ->
    [one] в { $trials } измерении
    [few] худшее из { $trials } измерений
   *[many] худшее из { $trials } измерений
 })
answer-more-doubts = и ещё { $count ->
    [one] { $count } оговорка
    [few] { $count } оговорки
   *[many] { $count } оговорок
 }


### Определения терминов: term-

term-heading = Термины
term-offered = предложено
term-offered-text = Заявки в секунду по расписанию. В закрытой модели — транзакции, начатые клиентами за секунду.
term-delivered = выполнено
term-delivered-text = Успешные транзакции в секунду в пределах окна измерения.
term-throughput = пропускная способность
term-throughput-text = Успешные транзакции в секунду.
term-tps = транз/с
term-tps-text = Успешные транзакции в секунду: медиана достоверных измерений.
term-goodput = goodput
term-goodput-text = Успешные транзакции в секунду, которые к тому же уложились в цель по времени ответа.
term-response = ответ
term-response-text = Время ответа: от момента, когда транзакция должна была начаться, до её конца, с ожиданием свободного клиента. Столько ждёт пользователь.
term-service = обслуживание
term-service-text = Время обслуживания: от отправки транзакции до её конца, без ожидания свободного клиента.
term-p50 = p50
term-p50-text = Медиана: половина заявок длится не дольше.
term-p90 = p90
term-p90-text = 90{"\u00A0"}% заявок длятся не дольше.
term-p95 = p95
term-p95-text = 95{"\u00A0"}% заявок длятся не дольше.
term-p99 = p99
term-p99-text = 99{"\u00A0"}% заявок длятся не дольше.
term-p999 = p99.9
term-p999-text = 99,9{"\u00A0"}% заявок длятся не дольше.
term-errors = ошибки
term-errors-text = Неудачные транзакции и транзакции с неизвестным исходом; ошибки/1000 — на тысячу отправленных.
term-failed = ошибок
term-failed-text = Неудачные транзакции и транзакции с неизвестным исходом.
term-dropped = отброшено
term-dropped-text = Заявки, которые не были отправлены: очередь была полна, предел задержки истёк или в ленте кончились строки.
term-requests = запросы
term-requests-text = Транзакции или запросы HTTP, отправленные в окне измерения: медиана годных измерений.
term-replication-lag = отст.
term-replication-lag-text = Наибольшее время, за которое реплика применяла последние записи WAL, по данным PostgreSQL: медиана годных измерений.
term-refused = отказов
term-refused-text = Соединения, в которых отказали сервер или пулер, за измерение.
term-deadlocks = дедлоки
term-deadlocks-text = Взаимные блокировки на тысячу транзакций по счёту клиентов или журнала сервера.
term-served = обслужено
term-served-text = Клиенты, которые выполнили хотя бы одну транзакцию, из всех.
term-settling = разгон
term-settling-text = Секунды от холодного старта до девяти десятых установившейся частоты.
term-cpu = ЦП
term-cpu-text = Среднее число занятых ЦП.
term-ratio = отношение
term-ratio-text = Значение, делённое на значение базы: 1 — без изменений.
term-change = изменение
term-change-text = Относительная разность значений прогона и базы; для ошибок — разность в процентных пунктах.
term-interval = 95{"\u00A0"}%
term-interval-text = Доверительный интервал: в 95{"\u00A0"}% таких измерений он содержит истинное значение.
term-verdict = вывод
term-verdict-text = Что доказано; показатели проверяются вместе, доля ложных открытий не больше 5{"\u00A0"}%.
term-test = критерий
term-test-text = Статистический критерий вывода; пояснён под таблицей.
term-outcome = итог
term-outcome-text = Выдержала ли система нагрузку шага, и если нет, то почему.
term-trend = тенденция
term-trend-text = Утечка: растёт ресурс, который не освобождают. Дрейф: меняется другой показатель. Иначе — без изменений.
term-blocks = блоков
term-blocks-text = Блоки по 8 КиБ, найденные запросом в общем буфере или прочитанные мимо него.
term-mean = среднее
term-mean-text = Сумма значений, делённая на их число. Редкие долгие случаи в ней почти не видны.
term-max = максимум
term-max-text = Наибольшее значение.
term-count = число
term-count-text = Число заявок с ответом или событий этого вида.
term-calls = вызовов
term-calls-text = Число выполнений запроса за окно измерения.
term-total = всего
term-total-text = Время выполнения всех вызовов вместе.
term-share = доля
term-share-text = Часть времени выполнения всех запросов.
term-rows = строк
term-rows-text = Число строк, которые запросы вернули или изменили.
term-session-mode = режим сеансов
term-session-mode-text = Клиент держит соединение с сервером, пока не отключится. Работают все возможности сеанса, но простаивающие клиенты занимают соединения.
term-transaction-mode = режим транзакций
term-transaction-mode-text = У клиента есть соединение с сервером только на время транзакции. Настройки сеанса, рекомендательные блокировки и подписки на уведомления после неё не сохраняются.
term-statement-mode = режим операторов
term-statement-mode-text = У клиента есть соединение с сервером только на время оператора. Транзакции из нескольких операторов невозможны.
term-jain = индекс Джейна
term-jain-text = Справедливость между клиентами: 1, если у всех поровну транзакций; 1/n, если все транзакции у одного из n.


### Page: first screen: overview-

# Sentences of at most 25 words.
overview-one = Система выполняет { $rate }{ $offered ->
    [none] {""}
   *[other] {" "}из предложенных { $offered }
 }{ $p99 ->
    [none] {""}
   *[other] , p99 — { $p99 }
 }.
overview-best = { $name }: { $rate }, больше всех остальных.
overview-difference = { $name }: { $rate }, это { $ratio } от { $base } в { $baseline }{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-no-difference = Нет свидетельств, что по пропускной способности { $name } отличается от { $baseline }{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-too-few-trials = Слишком мало измерений, чтобы обнаружить разницу между { $name } и { $baseline }.
# Пары ячеек. `verdict`: lower, higher, unknown, few или none. `p99`: то же для p99.
# `figure`, по которой сравниваются ячейки: throughput, p99 или both.
overview-pairs = { $figure ->
    [p99] p99 при предложенной нагрузке
    [both] Пропускная способность или p99 при предложенной нагрузке
   *[throughput] Пропускная способность
 }: { $pairs }.
overview-pairs-dull = различие не доказано, пар: { $count }
overview-pair-phrase = { $verdict ->
    [unknown] различие { $name } и { $baseline } не доказано
    [few] слишком мало измерений для сравнения { $name } и { $baseline }
    [none] { $name } нельзя сравнить с { $baseline }
   *[other] { $name } — { $ratio } от { $baseline }
 }{ $p99 ->
    [lower] {" "}(p99 ниже)
    [higher] {" "}(p99 выше)
   *[none] {""}
 }
overview-pair-line = { $name }: { $figure ->
    [p99] p99 —{" "}
   *[throughput] {""}
 }{ $ratio } от { $baseline }{ $low ->
    [none] {""}
   *[other] {" "}(95 % ДИ от { $low } до { $high })
 }, { $verdict ->
    [lower] ниже
    [higher] выше
    [few] слишком мало измерений, чтобы обнаружить различие
   *[unknown] различие не доказано
 }{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-nothing-comparable = Ни у одной ячейки нет пропускной способности, пригодной для сравнения.
overview-not-compared = { $name }: { $rate }; сравнивать с { $baseline } ({ $base }) нельзя: { $reason }.
# `kind`: slots, starved, errors, loads или unknown.
overview-obstacle = { $kind ->
    [slots] клиентам { $cell } отказывали
    [starved] клиенты { $cell } простаивали без соединения
    [errors] ошибки { $cell }: { $share } транзакций
    [loads] открытая модель только у одной из них
   *[unknown] нет одного из чисел
 }
    .requests = { $kind ->
    [slots] клиентам { $cell } отказывали
    [starved] клиенты { $cell } простаивали без соединения
    [errors] ошибки { $cell }: { $share } запросов
    [loads] открытая модель только у одной из них
   *[unknown] нет одного из чисел
 }
overview-objectives-violated = { $total ->
    [1] Цель нарушена.
   *[other] Нарушено целей: { $count } из { $total }.
 }
overview-maximum = { $name ->
    [none] Система
   *[other] { $name }
 } выдерживает { $at_least ->
    [true] не менее: { $level }
   *[other] { $level }
 }{ $limit ->
    [none] {""}
   *[other] . { $proven ->
        [true] Узкое место
       *[false] Вероятное узкое место
    }: { $limit }
 }.
# Часть измерений на уровне максимума неудачна. `lower` — это `overview-mixed-lower`.
overview-mixed = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $objective ->
    [none] { $name ->
        [none] Выдержано
       *[other] выдержано
    }
   *[other] { $objective } соблюдено при
 } { $lower ->
    [none] {""}
   *[other] { $lower },{" "}{ $objective ->
        [none] {""}
       *[other] при{" "}
    }
 }{ $level } в { $held } из { $total }{ $lower ->
    [none] {" "}{ $total ->
        [one] измерения
       *[other] измерений
    }
   *[other] {""}
 }.{ $limit ->
    [none] {""}
   *[other] {" "}{ $proven ->
        [true] Узкое место
       *[other] Вероятное узкое место
    }: { $limit }.
 }
overview-mixed-lower = { $level } в { $total } из { $total ->
    [one] { $total } измерения
   *[other] { $total } измерений
 }
overview-plateau = { $recommended ->
    [none] Лучший
   *[other] { $recommended } достаточно: лучший
 } { $figure ->
    [maximum] максимум
   *[p99] p99
 } у { $best }{ $recommended ->
    [none] { $equal ->
        [0] { $others ->
            [0] {""}
            [1] , вторая ячейка хуже
           *[other] , все остальные ячейки ({ $others }) хуже
        }
       *[other] ; не доказано, что хуже: { $equal } из { $others } остальных{ $fewest ->
            [true] , но им нужно больше ресурсов
           *[other] {""}
        }
    }
   *[other] , но преимущество не доказано
 }.
# `known`: levels that were sustained or not, and the numbers of their trials.
overview-searching = Поиск максимума{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 } идёт{ $known ->
    [none] {""}
   *[other] : { $known }
 }.
overview-no-maximum = { $name ->
    [none] Максимум не найден
   *[other] { $name }: максимум не найден
 }{ $known ->
    [none] {""}
   *[other] . { $known }
 }.
overview-soak-held = Нагрузка выдержана ({ $level }, { $duration }); { $moving ->
    [0] { $unknown ->
        [0] утечек и дрейфа нет
       *[other] утечек и дрейфа не видно, но не оценены тренды: { $unknown } из { $total }
    }
    [one] утечка или дрейф: { $moving } показатель
    [few] утечка или дрейф: { $moving } показателя
   *[other] утечка или дрейф: { $moving } показателей
 }.
overview-soak-failed = Нагрузка не выдержана: { $level }, { $duration }.
overview-soak-invalid = Неизвестно, выдерживает ли система { $level }: измерение недостоверно.
overview-no-loss = { $name ->
    [none] Ни
   *[other] { $name }: ни
 } одна подтверждённая запись не потеряна ({ $failovers ->
    [one] { $failovers } переключение
    [few] { $failovers } переключения
   *[many] { $failovers } переключений
 }){ $time ->
    [none] {""}
   *[other] ; перерыв в записи — { $time }
 }.
overview-loss = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }потеряно подтверждённых записей: { $lost } из { $written } ({ $failovers ->
    [one] { $failovers } переключение
    [few] { $failovers } переключения
   *[many] { $failovers } переключений
 }){ $promised ->
    [true] {""}
   *[other] ; ни одна настройка не обещала их сохранить
 }.
overview-loss-unknown = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $failovers ->
    [one] { $failovers } переключение
    [few] { $failovers } переключения
   *[many] { $failovers } переключений
 }; { $is_read ->
    [true] подтверждённые записи не потеряны, но это ещё ничего не доказывает
   *[false] потеряны ли подтверждённые записи, неизвестно
 }.
overview-outage-only = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $failovers ->
    [one] { $failovers } переключение
    [few] { $failovers } переключения
   *[many] { $failovers } переключений
 }{ $time ->
    [none] {""}
   *[other] ; перерыв в записи — { $time }
 }. Потери записей не проверялись.

# Large figures.
overview-verdict = Вердикт
overview-valid = верно
overview-doubtful = верно с оговорками
overview-invalid = недействительно
overview-valid-trials = верных измерений: { $valid } из { $total }
overview-objective = { $count ->
    [one] Цель
    [few] Цели
   *[many] Цели
 }
overview-met = соблюдены
overview-violated = нарушены
overview-undecided = не оценены
overview-all-objectives = все ({ $total })
overview-objectives = { $count } из { $total }
overview-interval = 95 % ДИ от { $low } до { $high }
overview-ratio = { $ratio } от базы{ $low ->
    [none] {""}
   *[other] {" "}(95 % ДИ от { $low } до { $high })
 }
overview-pair = { $name } и { $baseline }
overview-pair-ratio = { $figure ->
    [p99] p99{" "}
   *[throughput] {""}
 }{ $ratio }×
overview-pair-detail = { $low ->
    [none] {""}
   *[other] 95 % ДИ от { $low } до { $high }
 }{ $verdict ->
    [unknown] { $low ->
        [none] различие не доказано
       *[other] , различие не доказано
    }
    [few] { $low ->
        [none] {""}
       *[other] ;{" "}
    }{ $count ->
        [one] { $count } измерение: мало для сравнения
        [few] { $count } измерения: мало для сравнения
       *[many] { $count } измерений: мало для сравнения
    }
   *[other] {""}
 }
overview-pair-not-compared = не сравнивается: { $reason }
overview-pair-p99 = p99 { $p99 }{ $base ->
    [none] {""}
   *[other] {" "}против { $base }
 }{ $verdict ->
    [lower] , ниже
    [higher] , выше
   *[none] {""}
 }
overview-few-trials = { $count ->
    [one] { $count } измерение: мало для сравнения
    [few] { $count } измерения: мало для сравнения
   *[many] { $count } измерений: мало для сравнения
 }
overview-baseline = { $name } (база)
overview-throughput = Пропускная способность
overview-offered = из предложенных { $offered }
overview-p99 = p99 времени ответа
# `verdict`: met, violated или undecided.
overview-objective-verdict = { $objective }: { $verdict ->
    [met] соблюдена
    [violated] нарушена
   *[undecided] не оценена
 }
overview-p99-baseline = { $name } { $p99 }
overview-errors = Ошибки{ $count ->
    [1] {""}
   *[other] , худшее из { $count } измерений
 }
overview-outage-seen = без успешных ответов { $time }
overview-clients-unserved = клиенты без единого успешного ответа
overview-errors-count = { $count ->
    [0] нет отказов и сброшенных заявок
    [one] сброшена { $count } заявка
    [few] сброшено { $count } заявки
   *[many] сброшено { $count } заявок
 }
overview-sustained = Наибольшая нагрузка
# `metric` — как в цели: p95, max или `buy: p99`.
overview-time-holds = Наибольший { $metric } при ней
overview-objective-holds = { $objective }: соблюдена в { $met } из { $total ->
    [one] { $total } проверки
   *[other] { $total } проверок
 }
overview-holds = цели соблюдены в { $held } проверках из { $total }
overview-sustained-bracket = Выдержана нагрузка
overview-failed-bracket = Не выдержана нагрузка
overview-bracket-trials = выдержана в { $sustained } из { $total ->
    [one] { $total } измерения
   *[other] { $total } измерений
 }
overview-plateau-recommended = Рекомендуемая ячейка
overview-plateau-best = Лучшая ячейка
overview-plateau-fewest = меньше всего ресурсов среди ячеек, про которые не доказано, что они хуже лучшей
overview-plateau-size = Не доказано, что хуже
overview-plateau-others = из остальных ячеек: { $total }
overview-plateau-value-best = { $figure }: { $name }
overview-level = Нагрузка
# `outcome`: sustained, failed or invalid.
overview-level-outcome = { $outcome ->
    [sustained] выдержана { $duration }
    [failed] не выдержана ({ $duration })
   *[invalid] достоверного результата нет ({ $duration })
 }{ $share ->
    [none] {""}
   *[other] ; { $share } от максимума
 }
overview-trends = Утечки и дрейф
overview-trends-of = из показателей: { $total }{ $unknown ->
    [0] {""}
   *[other] ; не оценено: { $unknown }
 }
overview-lost-writes = Потеряно записей
overview-of-acknowledged = из { $written } подтверждённых
overview-outage = Перерыв в записи{ $is_new ->
    [true] {" "}для нового клиента
   *[false] {""}
 }, медиана
overview-at-most = не более { $time }
overview-failovers = Переключения
overview-loss-bound = 95 % ДИ: потери менее чем в { $share }
overview-trials = { $count ->
    [one] в { $count } измерении
   *[other] в { $count } измерениях
 }
overview-control = { $lost ->
    [0] контроль ничего не потерял, потери могут быть не видны
   *[other] контроль потерял { $lost }, значит, потери обнаруживаются
 }

# Picture.
overview-response = Время ответа
overview-mean = Среднее время ответа
overview-metric = { $metric } времени ответа
overview-pair-axis = { $figure ->
    [p99] p99
    [both] Пропускная способность или p99
   *[throughput] Пропускная способность
 } относительно базы
overview-pair-equal = равны
overview-offered-rate = Предложенная нагрузка
overview-fault = отказ
overview-seconds-after-fault = Время от отказа
# `unit`: s, min or h.
overview-elapsed = Время от начала, { $unit ->
    [h] ч
    [min] мин
   *[s] с
 }
overview-caption-soak = { $quantile } времени ответа: { $level }, { $duration }
overview-caption-quantiles = Квантили времени ответа, заявок: { $count }{ $unanswered ->
    [0] {""}
   *[other] ; без ответа: { $unanswered }
 }
overview-caption-cells = Пропускная способность ячеек: медиана измерений и 95 % ДИ
overview-caption-medians = Пропускная способность ячеек: медиана измерений
overview-caption-pairs = { $figure ->
    [p99] p99
    [both] Пропускная способность или p99
   *[throughput] Пропускная способность
 } ячеек относительно их баз, 95 % ДИ
overview-caption-pair-medians = { $figure ->
    [p99] p99
    [both] Пропускная способность или p99
   *[throughput] Пропускная способность
 } ячеек относительно их баз
overview-caption-plateau = { $figure } каждой ячейки, 95 % ДИ
overview-caption-steps = { $metric } при каждой измеренной нагрузке ({ $count }): выдержана (зелёный), нет (красный), измерение недействительно (серый)
overview-caption-means = Среднее время ответа при каждой измеренной нагрузке ({ $count }): выдержана (зелёный), нет (красный), измерение недействительно (серый)
overview-caption-faults = Успешные транзакции в секунду до и после отказа, измерений: { $count }
    .requests = Успешные запросы в секунду до и после отказа, измерений: { $count }

overview-more-doubts = { $count ->
    [one] Ещё { $count } оговорка
    [few] Ещё { $count } оговорки
   *[many] Ещё { $count } оговорок
 }


### Последние строки команды: closing-

closing-verdict = Оценка: { $verdict } ({ $trials })
closing-next = Дальше:
# Назначение команд.
closing-report = отчёт с графиками и выводами
closing-compare = что изменилось с предыдущего прогона
closing-resume = измерить остальное


### Live display: live-

# Строки о прогоне.
live-run-begins = { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 }, { $cells ->
    [one] { $cells } ячейка
    [few] { $cells } ячейки
   *[many] { $cells } ячеек
 }, порядок по seed { $seed }; под нагрузкой около { $duration }
live-search-begins = поиск максимума для { $cells ->
    [one] { $cells } ячейки
   *[other] { $cells } ячеек
 }, seed { $seed }; под нагрузкой по { $duration } на шаг
live-cause-failover = пора: вызовите переключение
live-note = примечание: { $text }
live-scraped = Prometheus может опрашивать { $url }
live-broken-off = прогон прерван: { $reason }
live-kept = { $path }, прошло { $duration }

# Действия.
live-setting-up = подготовка
live-fetching = скачивается PostgreSQL { $major }
live-starting = запускается { $node }
live-dropping = удаляются прежние данные
live-loading = загружено { $sent } из { $total ->
    [one] { $total } строки
   *[other] { $total } строк
 }
live-keys = строятся ключи и индексы
live-restoring-dump = восстанавливается дамп
live-reading-source = чтение исходной базы данных
live-statistics = собирается статистика
live-restored = данные восстановлены за { $time }
live-data-unchanged = данные не менялись: записи не было
live-warmed = кэши готовы
live-awaiting-failover = нагрузка закончилась, ожидание переключения
live-undoing = выполняется { $command }
live-warming-up = прогрев
live-measuring = { $second } из { $total }{"\u00A0"}с

# Вехи.
live-ready = { $node }: запуск занял { $time }
live-already-loaded = уже на месте: { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 }
live-loaded = загрузка: { $rows ->
    [one] { $rows } строка
    [few] { $rows } строки
   *[many] { $rows } строк
 } за { $time }, { $rate } в секунду
live-data-reused = использованы данные прошлого прогона: { $size } скопировано из кэша, сервер готов за { $time }
live-data-stored = загруженные данные сохранены в кэше для следующих прогонов: { $size } за { $time }
live-source-read = { $database } на { $address } прочитана по состоянию на { $at }: дамп { $size }
live-sampled = { $table }: { $total ->
    [one] взята { $kept } из { $total } строки
   *[other] взято { $kept } из { $total } строк
 } ({ $percent } %)
live-cache-not-cold = кэши остаются прогретыми: сервер и его файлы не под управлением pgdyno
live-directory-removed = каталог { $directory } удалён: он остался от прерванного запуска
live-directory-retained = каталог { $directory } остался от прерванного запуска и не удалён: { $reason }
live-in-use = его использует процесс { $pid } ({ $program })
live-not-inspectable = его может использовать процесс { $pid } ({ $program }), а проверить это нельзя
live-control-groups = не удаётся удалить его контрольные группы
live-mount-or-socket = { $path } — точка монтирования или открытый сокет

# Результаты измерений.
live-held = { $figures }: выдержано
live-too-much = { $figures }: не выдержано: { $reason }
live-not-counted = { $figures }: не учитывается{ $reason ->
    [none] {""}
   *[other] : { $reason }
 }
live-stopped = { $figures }, остановлено по правилу { $rule } после секунды { $second }
live-interrupted = { $figures ->
    [none] прервано до начала
   *[other] { $figures }, прервано
 }
live-skipped = пропущено: { $reason }
live-failed-trial = не удалось: { $reason }

# Заголовки строк, не больше 10 столбцов.
live-completed = выполнено
live-processors = ЦП

# Показатели.
live-rate = { $rate }{"\u00A0"}транз/с
    .requests = { $rate }{"\u00A0"}запр/с
live-failed = ошибок: { $count }
live-dropped = отброшено: { $count }
live-refused = отказов в соединении: { $count }
live-in-flight = в работе: { $count }
live-waiting = ждут { $count }
live-servers-busy = занято серверов { $count }
live-cpu-used = { $node } { $used }{ $quota ->
    [none] {""}
   *[other] {" "}из { $quota }
 }
live-left = осталось около { $duration }
live-search-left = до конца поиска около { $duration }
live-step = шаг { $number }; число шагов зависит от результатов
live-step-between = шаг { $number }; максимум – между { $low } и { $high }
live-step-above = шаг { $number }; пока выдержано: { $level }
live-step-below = шаг { $number }; не выдержано: { $level }
live-objectives = цели: { $list }
live-objectives-quantile = цели: { $list }; { $metric } { $time } за последние { $seconds } с

# Текущие значения на странице идущего прогона.
live-now-rate = Темп за секунду
live-now-quantile-detail = за { $seconds } с{ $objective ->
    [none] {""}
   *[other] ; { $objective }
 }
live-now-no-quantile = { $is_outage ->
    [true] ни одного ответа
   *[false] слишком мало транзакций
 }{ $objective ->
    [none] {""}
   *[other] ; { $objective }
 }
live-now-errors = Ошибки за секунду
live-now-elapsed = Прошло
live-now-silence = нет измерений уже { $duration }
live-now-open-end = число шагов зависит от результатов
live-level-rate = { $rate } в секунду
live-level-clients = { $count ->
    [one] { $count } клиент
    [few] { $count } клиента
   *[many] { $count } клиентов
 }
live-lines-lost = (не удалось вовремя показать: { $count ->
    [one] { $count } строка
    [few] { $count } строки
   *[many] { $count } строк
 })


### Directory of runs: words of its script: list-, words in the bar of a page: bar-

list-title = Прогоны
list-run = Прогон
list-experiment = Эксперимент
list-state = Состояние
list-begun = Начало (UTC)
list-cells = Ячейки
list-trials = Измерения
list-size = Размер
list-headline = Ответ
list-filter = Поиск
list-all = все
list-select = Выбрать
list-base = база сравнения
list-compare = Сравнить
list-compare_help = Выберите два прогона или больше: базой сравнения станет самый старый.
list-reload = Обновить
list-none = Таких прогонов нет.
bar-all_runs = Все прогоны
bar-one_file = Сохранить в файл


### Directory of runs: serve-

serve-token = Токен
serve-log-in = Войти
serve-wants-token = Нужен токен, с которым запущен этот сервер.
serve-wrong-token = Это не токен этого сервера.
serve-unknown-run = Такого прогона нет.
serve-ended = Этот прогон уже закончился.
serve-reader-failed = его не удалось прочитать; причина — в стандартном потоке ошибок
serve-no-trial = в этом запуске нет измерения { $trial }
serve-no-cell = измерение { $trial } не относится ни к одной ячейке эксперимента
serve-busy = Слишком много запросов одновременно; повторите чуть позже.
serve-foreign-request = Запрос отправлен не со страницы этого сервера; откройте её заново.
serve-unreadable = Прогон не читается: { $reason }
serve-measuring = Измерение { $trial }{ $total ->
    [none] {""}
   *[other] {" "}из { $total }
 } идёт { $seconds }{"\u00A0"}с
serve-setting-up = Измерение { $trial }{ $total ->
    [none] {""}
   *[other] {" "}из { $total }
 } готовится
serve-stopping = Прогон останавливается; всё измеренное сохраняется.

# Уведомление о конце прогона.
notification-title = { $run }: { $state }
webhook-no-url = { $source }: нет URL вебхука
webhook-no-url-hint = напишите одну строку, например { $example }, без имени пользователя
webhook-sent = Ответ отправлен на вебхук { $host }.
webhook-failed = вебхук { $host } не получил уведомления: { $error }

# Состояния прогонов.
serve-running = идёт
serve-complete = завершён
serve-interrupted = прерван
serve-stopped = остановлен по правилу
serve-failed = не удался
serve-skipped = пропущен
serve-lost = потерян: его процесс был убит


### Search for the maximum: search-

# Разделы.
search-heading-maximum = Максимум и что его ограничивает
search-heading-scalability = Пропускная способность и число клиентов
search-heading-soak = Длительная нагрузка
search-heading-plateau = Каких настроек достаточно
search-caption-steps = Ход поиска
search-caption-perturbations = Пробные изменения

# Столбцы.
search-column-stage = этап
search-column-round = поиск
search-column-delivered = выполнено/с
search-column-p99 = p99, мс
search-column-mean = среднее, мс
search-column-window = длительность
search-column-outcome = итог
search-column-changed = изменено
search-column-base-maximum = максимум до
search-column-new-maximum = максимум после
search-column-ratio = отношение
search-column-elasticity = эластичность
search-column-verdict = вывод
search-column-clients = клиенты
search-column-measured = измерено/с
search-column-law = по закону/с
search-column-metric = показатель
search-column-from = в начале
search-column-to = в конце
search-column-per-hour = в час (95{"\u00A0"}%)
search-column-trend = тенденция
search-column-cell = ячейка
search-column-cell-maximum = максимум (95{"\u00A0"}%)
search-column-cell-p99 = p99, мс (95{"\u00A0"}%)
search-column-plateau = на плато
search-plateau-yes = да
search-plateau-best = да, лучшая
search-plateau-recommended = да, рекомендуется
search-no-answer = нет ответа

# Заголовки уровней.
search-scale-rate = заявки/с
search-scale-clients = клиенты

search-step-ramp = разгон
search-step-rest = разгрузка
search-step-narrow = сужение
search-step-hold = удержание найденного
search-step-confirm = подтверждение
search-step-soak = длительная нагрузка

# `level` — целое число или дробь; дробь требует родительного падежа: 1,5 заявки.
search-level-rate = { $level ->
    [one] { $level } заявка
    [many] { $level } заявок
   *[few] { $level } заявки
 } в секунду
search-level-clients = { $clients ->
    [one] { $clients } клиент
    [few] { $clients } клиента
   *[many] { $clients } клиентов
 }
# Уровни в винительном падеже: выдерживает 21 заявку.
search-sustained-rate = { $level ->
    [one] { $level } заявку
    [many] { $level } заявок
   *[few] { $level } заявки
 } в секунду
search-sustained-clients = { $clients ->
    [one] { $clients } клиента
    [few] { $clients } клиента
   *[many] { $clients } клиентов
 }

search-outcome-held = выдержано
search-outcome-invalid = недостоверно: { $reason }
search-outcome-not-judged = не оценено: { $reason }

# Почему уровень не выдержан.
search-overload-objective = не соблюдается { $objective }
search-overload-behind = выполняется только { $share } предложенной нагрузки
search-overload-clients = все клиенты ({ $clients }) заняты, новые только ждали бы
search-overload-in-flight = число заявок в работе растёт на { $rate } в секунду
    .requests = число заявок в работе растёт на { $rate } в секунду
search-overload-rule = срабатывает правило остановки { $rule }

# Почему поиск кончился раньше максимума: после «потому что».
search-stop-generator = генератор опаздывал или был перегружен
search-stop-agents-limit = агенты опаздывали или были перегружены ({ $agents ->
    [one] { $agents } агент
    [few] { $agents } агента
   *[many] { $agents } агентов
}{ $busy ->
    [none] {""}
   *[other] , самый занятый поток — { $busy }
})
search-stop-host = машина была занята другой работой: опаздывавший поток генератора ждал ЦП { $share } времени
search-stop-descriptors = исчерпаны файловые дескрипторы или локальные порты
search-stop-client-cap = достигнут предел числа заявок в работе ({ $clients }), и тест перестал быть открытым
search-stop-max-level = выше не пробовали (граница поиска — { $level })
search-stop-min-level = не выдержан даже наименьший уровень ({ $level })
search-stop-feed-end = строки одной из лент данных закончились
search-stop-unmeasured = { $objective }
search-stop-suspended = процесс был приостановлен
search-stop-aborted = клиенты прерваны
search-stop-few-samples = { $objective ->
    [none] чтобы судить о доле выполненной нагрузки
   *[other] чтобы судить о { $objective }
 }, нужно замеров: { $needed }, а было: { $samples }
search-stop-undecided = один и тот же уровень система то выдерживает, то нет ({ $level })

# Пределы, как подлежащие.
search-limit-cpu = ЦП узла { $node }
search-limit-reads = чтение с диска на узле { $node }
search-limit-writes = запись на диск на узле { $node }
search-limit-wal = сброс WAL на диск
search-limit-sync-replicas = ожидание синхронных реплик
search-limit-memory = память узла { $node }
search-limit-pool = пул узла { $node }
search-limit-pool-setting = { $setting } узла { $node }
search-limit-service-pool = пул соединений сервиса { $node }
search-limit-service-threads = потоки сервиса { $node }
search-limit-service = внутри сервиса { $node }
search-limit-slots = слоты подключений узла { $node }
search-limit-role-connections = предел подключений роли
search-limit-database-connections = предел подключений базы данных
search-limit-row-locks = блокировки строк{ $statement ->
    [none] {""}
   *[other] {" "}в запросе { $statement }
 }
# `lock` — текст, имя которого начинается с `search-locks-`.
search-limit-locks = { $lock }{ $statement ->
    [none] {""}
   *[other] {" "}в запросе { $statement }
 }
search-locks-advisory = рекомендательные блокировки
search-locks-relation = блокировки таблиц
search-locks-extend = блокировки расширения таблицы или индекса
search-locks-object = блокировки объектов базы данных
search-locks-buffer-pin = закреплённые буферы
search-locks-heavyweight = блокировки вида { $name }
search-locks-lightweight = лёгкая блокировка { $name }
search-work-temporary-files = временные файлы сортировок и хешей, которым мало work_mem
search-work-jit = JIT-компиляция
search-work-planning = планирование запросов
search-work-logins = подключения
search-work-empty-pages = почти пустые страницы { $table }
search-work-subtransactions = подтранзакции (точки сохранения или блоки обработки исключений)
search-work-dead-rows = мёртвые версии строк в { $table }
search-work-old-statistics = планы по устаревшей статистике { $table }
search-work-old-snapshot = версии строк, которые удерживает старый снимок
search-work-autovacuum = автоочистка
search-work-large-values = большие значения { $table } (TOAST)
search-work-discarded-rows = чтение множества строк { $table } по индексам
search-work-unused-indexes = неиспользуемые индексы { $table }
search-work-function = функция { $function }
search-work-foreign-key = чтение { $table } целиком при каждом удалении строки, на которую она ссылается, потому что у внешнего ключа ({ $columns }) нет индекса
search-work-skipped-rows = строки { $table }, которые пропускает OFFSET
search-work-repeated-statement = запрос, который каждая транзакция выполняет много раз
search-work-large-result = запрос, который возвращает много строк
search-work-generic-plans = полное чтение { $table }, которого избежали бы планы для конкретных значений параметров
search-work-condition = полное чтение { $table }, потому что индексу мешает { $obstacle }
search-limit-idle-transactions = сеансы, простаивающие в транзакции
search-limit-result-reading = клиенты, которые медленно читают результаты
search-limit-delayed-acknowledgements = отложенные подтверждения TCP
search-limit-scan = последовательный просмотр таблицы { $table }{ $ddl ->
    [none] {""}
   *[other] {" "}(нет индекса: { $ddl })
 }
search-limit-checkpoints = контрольные точки
search-limit-conflicts = конфликты транзакций { $is_deadlock ->
    [true] (взаимные блокировки)
   *[false] (ошибки сериализации)
 }
search-limit-clients = число клиентов
search-limit-client-cap = предел числа заявок в работе
search-limit-feed = набор данных ленты { $feed }, который целиком помещается в кэш
search-limit-host = ЦП этой машины
search-limit-generator = генератор
# `limits` соединены текстом `search-limit-and`.
search-limit-together = { $limits } вместе
search-limit-and = {" "}и{" "}

# Настройки, которые поиск меняет, чтобы найти причину.
search-knob-cpu = ЦП узла { $node }
search-knob-read-iops = чтений в секунду на узле { $node }
search-knob-write-iops = записей в секунду на узле { $node }
search-knob-memory = память узла { $node }
search-knob-pool = размер пула узла { $node }
search-knob-environment = { $variable } сервиса { $node }
search-knob-slots = max_connections узла { $node }
search-knob-clients = клиенты
search-knob-connections = соединения не закрываются
search-knob-feed-rows = строки ленты данных { $feed }
search-proof-limits = ограничивает
search-proof-does-not-limit = не ограничивает
search-proof-undecided = не установлено

# `path`: узлы от первого до PostgreSQL.
search-question-maximum = Какую наибольшую нагрузку выдерживает { $path ->
    [none] каждая ячейка
   *[other] { $path }
 } и что её ограничивает?
search-question-soak = Выдерживает ли { $path ->
    [none] каждая ячейка
   *[other] { $path }
 } нагрузку долгое время и нет ли утечек и дрейфа?
search-question-plateau = Каких настроек достаточно?

search-unfinished = поиск не завершён
search-unanswered = ответа нет, потому что { $reason }{ $known ->
    [none] {""}
   *[other] ; { $known }
 }{ $suspect ->
    [none] {""}
   *[other] ; предположительно узкое место — { $suspect }
 }.
search-answer = выдерживает { $at_least ->
    [true] не менее чем{" "}
   *[false] {""}
 }{ $level }{ $certainty ->
    [none] {""}
   *[other] {" "}({ $certainty })
 }{ $delivered ->
    [none] {""}
    [one] , при этом { $delivered } транзакция в секунду
    [many] , при этом { $delivered } транзакций в секунду
   *[few] , при этом { $delivered } транзакции в секунду
 }; { $cause }{ $beyond ->
    [none] {""}
   *[other] ; { $beyond }
 }.
search-interval = 95{"\u00A0"}%: от { $low } до { $high }
search-searches = { $count ->
    [one] { $count } поиск
    [few] { $count } поиска
   *[many] { $count } поисков
 }
search-confirmed = подтверждено в { $held } из { $total ->
    [one] { $total } измерения
   *[other] { $total } измерений
 }
search-beyond-unknown = более высокие уровни не проверены: { $reason }
search-beyond-overload = выше этого { $reason }{ $failed ->
    [none] {""}
   *[other] {" "}({ $failed })
 }
search-level-trials = { $level }: выдержано в { $held } из { $total ->
    [one] { $total } измерения
   *[other] { $total } измерений
 }
search-remedy-generator = Дайте генератору больше потоков или отдельную машину.
search-remedy-agents = Используйте { $all } агентов или больше (ещё { $more }), у каждого столько же потоков (`threads`), сколько сейчас; или напишите `agents: auto`.
search-remedy-host = Остановите другие программы на этой машине или запустите генератор на другой.
search-remedy-descriptors = Поднимите предел открытых файлов или расширьте диапазон локальных портов; оба показывает `pgdyno doctor`.
search-remedy-client-cap = Увеличьте `max_in_flight`.
search-remedy-few-samples = Увеличьте `window`.
search-remedy-max-level = Поднимите верхнюю границу поиска.
search-remedy-min-level = Начните поиск с меньшего уровня. Если система столь же медленна на любом уровне, измените систему или цель.
# `consumer`: чем занят ЦП.
search-cause-proven = узкое место — { $limit }{ $proof ->
    [none] {""}
   *[other] {" "}({ $proof })
 }{ $consumer ->
    [none] {""}
   *[other] , его занимает { $consumer }
 }
search-cause-elasticity = эластичность { $value }
search-cause-feed = со строками всей таблицы максимум — { $ratio } от исходного
search-cause-switch = без этого предела максимум — { $ratio } от исходного
search-cause-suspected = узкое место не доказано, предположительно { $limit }{ $tested ->
    [none] {""}
   *[other] {" "}({ $tested })
 }
# Что делать с пределом.
search-do-cpu = Дайте узлу { $node } больше ЦП или уменьшите работу на одну транзакцию.
search-do-reads = Дайте узлу { $node } память под нужные данные или диск, который быстрее читает.
search-do-writes = Пишите меньше в одной транзакции или дайте узлу { $node } диск, который быстрее пишет.
search-do-wal = Разместите WAL на диске с быстрым сбросом или объединяйте изменения в одну транзакцию. Если последние транзакции можно потерять, задайте `synchronous_commit = off`.
search-do-sync-replicas = Дайте репликам более быстрые диски и сеть или выберите более слабый `synchronous_commit` для транзакций, которые можно потерять.
search-do-memory = Дайте узлу { $node } больше памяти или читайте меньше блоков в одной транзакции.
search-do-pool = Увеличьте пул узла { $node } или сократите транзакции, которые занимают его соединения.
search-do-pool-setting = Увеличьте { $setting } узла { $node } или сократите транзакции, которые занимают его соединения.
search-do-service-pool = Увеличьте пул соединений сервиса { $node } или сократите время, на которое запрос занимает соединение.
search-do-service-threads = Дайте сервису { $node } больше потоков или сократите запросы.
search-do-service = Ищите внутри сервиса { $node }: блокировки, очереди, вызовы. Если он показывает свои пулы и потоки (`stats`), pgdyno сможет их назвать.
search-do-slots = Открывайте меньше подключений, например через пулер, или увеличьте `max_connections`.
search-do-role-connections = Открывайте меньше подключений, например через пулер, или увеличьте предел роли: { $command }.
search-do-database-connections = Открывайте меньше подключений, например через пулер, или увеличьте предел базы данных: { $command }.
search-do-row-locks = Сократите время от изменения строки до фиксации или распределите изменения по нескольким строкам. Если SELECT … FOR UPDATE и проверки внешних ключей ждут друг друга, используйте FOR NO KEY UPDATE.
search-do-locks-advisory = Сократите время, на которое приложение берёт рекомендательную блокировку, или берите отдельную блокировку на каждый ключ.
search-do-locks-relation = Не блокируйте под нагрузкой целые таблицы и другие объекты или сократите такие транзакции.
search-do-locks-extend = Вставляйте строки крупными пакетами или меньшим числом сеансов.
search-do-locks-buffer-pin = Закрывайте курсоры раньше и не оставляйте запросы незавершёнными.
search-do-locks-heavyweight = Сократите транзакции, которые держат эту блокировку.
search-do-locks-lightweight = Уменьшите число одновременных сеансов, например размер пула.
search-do-locks-lock-manager = Блокируйте меньше отношений в запросе: одна секция вместо всех, без лишних индексов; или уменьшите число одновременных сеансов.
search-do-locks-wal-insert = Пишите меньше WAL: меньше индексов, крупнее пакеты, COPY вместо INSERT, реже контрольные точки.
search-do-locks-buffer-mapping = Увеличьте `shared_buffers` или читайте меньше разных страниц в транзакции.
search-do-locks-proc-array = Уменьшите число сеансов, например пулером в режиме транзакций; делайте транзакции реже, но крупнее.
search-do-locks-subtransactions = Не больше 64 точек сохранения или блоков обработки исключений в транзакции; завершайте долгие транзакции.
search-do-locks-multixacts = Избегайте множества транзакций, которые блокируют одну строку через FOR SHARE или внешний ключ.
search-do-locks-buffer-content = Многие сеансы меняют одну страницу, например последнюю страницу индекса: возьмите невозрастающие значения или секции.
search-do-temporary-files = Увеличьте `work_mem` для этих запросов или сортируйте и хешируйте меньше строк.
search-do-jit = Задайте `jit = off` или увеличьте `jit_above_cost`.
search-do-planning = Используйте подготовленные операторы, меньше секций или более простые запросы.
search-do-logins = Не закрывайте соединения или поставьте перед PostgreSQL пулер.
search-do-empty-pages = Выполните VACUUM FULL { $table } (исключительная блокировка) или pg_repack. Затем удаляйте меньше строк за раз или отсоединяйте секции.
search-do-subtransactions = Обойдитесь без исключения, например с ON CONFLICT DO NOTHING, или используйте одну точку сохранения на много строк.
search-do-dead-rows = Выполните VACUUM FULL { $table }, затем чаще запускайте для неё автоочистку и завершайте транзакции, которые ей мешают.
search-do-old-statistics = Выполняйте ANALYZE { $table } после больших изменений или уменьшите её autovacuum_analyze_scale_factor.
search-do-old-snapshot = Завершайте долгие транзакции, в том числе отчётов и резервных копий, или выполняйте их на реплике.
search-do-autovacuum = Распределите работу автоочистки во времени: увеличьте autovacuum_vacuum_cost_delay или очищайте большие таблицы, пока нагрузка мала.
search-do-large-values = Не читайте большие столбцы без нужды, храните их вне таблицы или сжимайте их методом lz4.
search-do-discarded-rows = Пусть операторы читают меньше строк { $table }: храните готовые суммы или текущие состояния, а не вычисляйте их при каждом запросе, или создайте индекс по всем столбцам условия (кандидатов найдёт `pgdyno advise`). VACUUM (ANALYZE) поможет, если оценки неточны или запросам хватило бы одного индекса.
search-do-unused-indexes = Удалите индексы, которыми не пользуется ни один запрос, в том числе на других серверах с этой таблицей.
search-do-function = Найдите медленные запросы функции с помощью auto_explain (`auto_explain.log_nested_statements`) или выполняйте её работу вне транзакции.
search-do-foreign-key = Создайте индекс { $table } ({ $columns }).
search-do-skipped-rows = Выбирайте следующую страницу по последнему ключу предыдущей (`WHERE id > $1 ORDER BY id LIMIT 20`): OFFSET читает все строки перед страницей.
search-do-repeated-statement = Получайте эти строки одним запросом, например соединением таблиц или `WHERE id = ANY($1)`, или отправляйте запросы пакетом.
search-do-large-result = Возвращайте меньше строк: постранично, готовыми суммами или только изменённые.
search-do-generic-plans = Задайте для этих запросов `plan_cache_mode = force_custom_plan` или не подготавливайте их: общий план не знает значений параметров.
search-do-condition = Измените запрос: { $remedy }.
search-do-idle-transactions = Пусть приложение фиксирует транзакцию, прежде чем чего-то ждать; задайте `idle_in_transaction_session_timeout`.
search-do-result-reading = Возвращайте меньше строк и столбцов, читайте результаты быстрее или возьмите более быструю сеть.
search-do-delayed-acknowledgements = Включите TCP_NODELAY в клиенте и в сервисе и отправляйте запрос одной записью.
search-do-scan = { $ddl ->
    [none] Читайте меньше строк: уточните условие или заведите сводную таблицу.
   *[other] Создайте индекс: { $ddl }.
 }
search-do-checkpoints = Увеличьте `max_wal_size`, чтобы контрольные точки были реже; `wal_compression` уменьшает записи полных страниц после них.
search-do-conflicts = { $is_deadlock ->
    [true] Блокируйте строки во всех транзакциях в одном порядке и сократите транзакции.
   *[false] Сократите транзакции, читайте меньше строк через индексы, возьмите более слабый уровень изоляции, если это допускают правила приложения, или чаще повторяйте неудавшиеся транзакции (`max_tries`).
 }
search-do-clients = Возьмите больше клиентов или открытую модель.
search-do-feed = Возьмите ленту, значения которой охватывают запрашиваемые данные.
search-do-host = Дайте стенду больше ЦП или перенесите генератор на другую машину.
search-excluded = Исключено проверкой: { $limits }.
search-gain = Проверено: { $perturbation } — максимум { $ratio } от исходного.
search-other-limits = Изменение настройки показало ещё один предел: { $limits }.
# Подозреваемый и пропускная способность при перегрузке.
search-saturation = { $limit }: { $delivered } в секунду, сколько ни предлагай ({ $offered } в секунду)
search-offered-range = от { $low } до { $high }
search-cause-undecided = проверено, не решено: { $perturbation }{ $ratio ->
    [none] {""}
   *[other] {" "}— максимум { $ratio } от исходного
 }
search-cause-unknown = узкое место не доказано
search-answered-cells = ответ есть для { $answered } из { $cells ->
    [one] { $cells } ячейки
   *[other] { $cells } ячеек
 }
search-rounds = Ответы отдельных поисков: { $levels }.
search-window = { $window } на шаг{ $warmup ->
    [none] {""}
   *[other] {" "}после прогрева в { $warmup }
 }, { $hold } на найденном уровне{ $repeat ->
    [1] {""}
    [few] , поиск проводился { $repeat } раза
   *[other] , поиск проводился { $repeat } раз
 }
search-effort = { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 }, под нагрузкой { $duration }.

search-law = По универсальному закону масштабируемости один клиент даёт λ = { $lambda } в секунду; конкуренция σ = { $sigma }, согласование κ = { $kappa }. { $peak ->
    [none] Максимум пропускной способности лежит вне измеренных чисел клиентов, и для них закон ничего не предсказывает
    [one] Пропускная способность наибольшая при { $peak } клиенте
   *[other] Пропускная способность наибольшая при { $peak } клиентах
 }. Закон объясняет { $variance } дисперсии.

# `share`: доля максимума.
search-soak-held = в течение { $duration } выдержано { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }
search-soak-failed = в течение { $duration } не выдержано { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }: { $reason }
search-soak-invalid = ответа нет (уровень — { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }), потому что { $reason }
search-soak-leaks = утекает: { $metrics }
search-soak-drifts = дрейфует: { $metrics }
search-soak-steady = { $unknown ->
    [0] утечек и дрейфа нет
   *[other] утечек и дрейфа не видно, но о { $unknown } из { $trends ->
        [one] { $trends } ряда
       *[other] { $trends } рядов
     } судить нельзя
 }
search-soak-low-level = При { $share } максимума это мало что доказывает: утечки и дрейф, которые растут с нагрузкой, могли не проявиться.
search-trend-memory = память узла { $node }
search-trend-median = медиана времени ответа
search-trend-p99 = p99 времени ответа
search-trend-connections = соединения узла { $node }
search-trend-dead-rows = мёртвые строки { $table ->
    [none] всех таблиц
   *[other] таблицы { $table }
 }
search-trend-size = размер { $table ->
    [none] базы данных
   *[other] таблицы { $table }
 }
search-trend-throughput = пропускная способность
search-trend-files = открытые файлы узла { $node }
search-trend-leak = утечка
search-trend-drift = дрейф
search-trend-steady = неизменно
search-trend-unknown = нельзя оценить

# `figure`: maximum или p99. `recommended`: ячейка на плато, которая требует меньше лучшей.
search-plateau = { $recommended ->
    [none] { $figure ->
        [maximum] Лучший максимум
       *[p99] Лучшее p99
     }
   *[other] Достаточно { $recommended }: { $figure ->
        [maximum] лучший максимум
       *[p99] лучшее p99
     }
 } — { $best }{ $others ->
    [none] {""}
   *[other] , { $others }
 }{ $recommended ->
    [none] {""}
   *[other] , а меньше всего ресурсов из них требует { $recommended }
 }.
search-plateau-beats = и эта ячейка доказанно лучше { $others ->
    [1] другой
   *[other] всех остальных
 }
search-plateau-beats-none = но не доказано, что эта ячейка лучше { $others ->
    [1] другой
   *[other] всех остальных
 }
search-plateau-beats-some = но не доказано, что эта ячейка лучше { $equal } из { $others ->
    [one] { $others } остальной
   *[other] { $others } остальных
 }
# `rate` и `processors` — целые числа или дроби.
search-connections = { $rate ->
    [one] { $rate } транзакции в секунду, которая держит соединение { $hold_time },
   *[other] { $rate } транзакциям в секунду, каждая из которых держит соединение { $hold_time },
 } в среднем нужно соединений: { $connections } (закон Литтла); у PostgreSQL { $processors }{"\u00A0"}ЦП.


### Failover: failover-

failover-heading = Переключение
failover-caption-anomalies = Аномалии
failover-column-cell = ячейка
failover-column-conclusion = обещание
failover-column-failovers = переключения
failover-column-acknowledged = подтверждено
failover-column-lost = потеряно
failover-column-lost-locally = потеряно с предупреждением
# Записи с неизвестным исходом и те из них, которые есть.
failover-column-unknown = неизвестно (из них есть)
failover-column-refused = отклонено
failover-column-misrouted = не по адресу
failover-column-outage = перерыв { $is_read ->
    [true] чтения
   *[false] записи
 } { $is_new ->
    [true] (новый клиент)
   *[false] (подключённый)
 }
failover-column-phase = этап
failover-column-lag = наибольшее отставание
failover-phases = до, во время и после сбоев
failover-phase-before = до
failover-phase-during = во время
failover-phase-after = после
failover-phases-note = по секундам. Секунда относится к сбою, если он ещё действовал, новый основной сервер ещё не был назначен, ни одна транзакция не завершалась успешно или какие-то клиенты ещё не обслуживались. Отставание реплик снимается раз в секунду
failover-column-promoted = повышение через
failover-column-healthy = готовность через
failover-column-rejoined = прежний основной вернулся за
failover-column-control = потеряно в контроле
failover-column-anomaly = аномалия
failover-column-count = число
failover-column-meaning = что это значит
# Первые потерянные записи.
failover-column-examples = сеанс/номер

# `path`: узлы от первого до PostgreSQL.
failover-question = Переживает ли переключение каждая подтверждённая запись{ $path ->
    [none] {""}
   *[other] {" "}({ $path })
 } и как долго невозможна запись?

failover-lost = { $lost ->
    [one] потеряна
    [few] потеряны
   *[many] потеряно
 } { $lost } из { $acknowledged ->
    [one] { $acknowledged } подтверждённой записи
   *[other] { $acknowledged } подтверждённых записей
 } { $failovers ->
    [0] без переключения
    [one] за { $failovers } переключение
    [few] за { $failovers } переключения
   *[many] за { $failovers } переключений
 }
failover-loss-unknown = из { $acknowledged ->
    [one] { $acknowledged } подтверждённой записи
   *[other] { $acknowledged } подтверждённых записей
 } неизвестно сколько потеряно { $failovers ->
    [0] без переключения
    [one] за { $failovers } переключение
    [few] за { $failovers } переключения
   *[many] за { $failovers } переключений
 }
failover-not-read = не прочитано
failover-no-ledger = { $failovers ->
    [one] { $failovers } переключение
    [few] { $failovers } переключения
   *[many] { $failovers } переключений
 }; ни у одной операции нет журнала записей, поэтому неизвестно, что потеряно
# `lost` — это failover-lost.
failover-lost-nothing = { $lost } (95{"\u00A0"}%: записи теряют менее { $bound } переключений)
failover-lost-before = { $lost }: точка восстановления{"\u00A0"}— { $duration }; об этих записях ничего не было обещано
failover-lost-after = { $lost }, все подтверждены не позже чем через { $duration } после сбоя; об этих записях ничего не было обещано
failover-lost-unpromised = { $lost }; об этих записях ничего не было обещано
failover-promise-violated = обещание нарушено: { $violations }; { $lost }
failover-not-proven = не доказано{ $reason ->
    [none] {""}
   *[other] : { $reason }
 }{ $more ->
    [0] {""}
    [one] {" "}(и ещё { $more } сомнение)
    [few] {" "}(и ещё { $more } сомнения)
   *[many] {" "}(и ещё { $more } сомнений)
 }; { $lost }
failover-anomaly-count = { $anomaly }{"\u00A0"}— { $count }
failover-outage = { $is_read ->
    [true] Чтение было недоступно
   *[false] Запись была недоступна
 }: { $outages }.
# `max`: нет, если все перерывы одинаковы. `wait`: время после того, как новые клиенты снова обслужены.
failover-outage-client = { $is_new ->
    [true] новому клиенту
   *[false] подключённому клиенту
 }{"\u00A0"}— { $median }{ $max ->
    [none] {""}
   *[other] {" "}(медиана; не более { $max })
 }{ $wait ->
    [none] {""}
   *[other] , из них { $wait }{"\u00A0"}— его собственные тайм-ауты, когда новые клиенты уже могли { $is_read ->
        [true] читать
       *[false] писать
     }
 }
failover-outage-ongoing = { $trials ->
    [1] до конца нагрузки
   *[other] в { $trials } испытаниях до конца нагрузки
 }
failover-outage-none = { $is_new ->
    [true] новому клиенту
   *[false] подключённому клиенту
 }{"\u00A0"}— без перерыва

# `result`, `node`, `at`: первый отличающийся результат; их нет, если такого не было.
failover-invariant = { $result ->
    [none] { $readings ->
        [0] Результат инварианта { $query } не прочитан ни разу. До нагрузки он был { $expected }.
       *[other] { $query }: во всех чтениях ({ $readings }) результат { $expected }.
    }
   *[other] { $query }: через { $at } сервер { $node } вернул { $result } вместо { $expected }. Результат отличался в { $violations } из { $readings } чтений.
 }

failover-conclusion-kept = соблюдено
failover-conclusion-violated = нарушено
failover-conclusion-unknown = не доказано

failover-anomaly-lost = потерянные записи
failover-anomaly-hole = пропуски
failover-anomaly-invariant = нарушения инвариантов
failover-anomaly-flicker = непостоянные записи
failover-anomaly-false-failure = ложные отказы
failover-anomaly-phantom = фантомы
failover-anomaly-duplicate = дубликаты
failover-anomaly-reordered = переставленные записи
failover-anomaly-split-brain = записи на прежнем основном сервере
failover-anomaly-diverged = разошедшиеся записи
failover-anomaly-wrong-promotion = ошибочные повышения
failover-anomaly-lost-ambiguous = потери при смене обещания
failover-anomaly-lost-unpromised = потери без обещания
failover-anomaly-lost-local = потери с предупреждением
failover-anomaly-old-timeline = потери, оставшиеся на прежней линии времени
failover-anomaly-retry = дубликаты из-за повторов
failover-meaning-lost = исчезли, хотя настройки обещали сохранить их или ничто не объясняет потерю
failover-meaning-hole = исчезли, хотя есть запись, начатая позже на том же сервере
failover-meaning-invariant = результаты инварианта, которые отличаются от результата до нагрузки
failover-meaning-flicker = в одном чтении есть, в другом нет, хотя между ними ничего не происходило
failover-meaning-false-failure = отклонены, но есть
failover-meaning-phantom = есть, хотя никогда не отправлялись
failover-meaning-duplicate = есть несколько раз после единственной попытки
failover-meaning-reordered = стоят в списке после записи, которая отправлена лишь после их подтверждения
failover-meaning-split-brain = подтверждены прежним основным сервером, когда другой сервер уже принимал записи
failover-meaning-diverged = исчезли на основном сервере, но есть на реплике, которая следует за ним
failover-meaning-wrong-promotion = повышена реплика, у которой могло не хватать записей
failover-meaning-lost-ambiguous = подтверждены во время смены обещания и исчезли
failover-meaning-lost-unpromised = подтверждены без обещания пережить основной сервер и исчезли
failover-meaning-lost-local = подтверждены с предупреждением, что есть только на этом сервере, и исчезли
failover-meaning-old-timeline = исчезли на новом основном сервере, но есть на прежнем
failover-meaning-retry = есть несколько раз после нескольких попыток

# Почему сохранность не доказана.
failover-doubt-not-read = обратно ничего не прочитано
failover-doubt-newer = { $writes ->
    [one] { $writes } подтверждённая запись
    [few] { $writes } подтверждённые записи
   *[many] { $writes } подтверждённых записей
 } позже всех чтений
failover-doubt-standby-read = чтение { $reading } сделано с реплики
failover-doubt-old-timeline = чтение { $reading } сделано со старой линии времени
failover-doubt-other-system = чтение { $reading } сделано из другой системы баз данных
failover-doubt-standby-acknowledged = записи подтверждала реплика
failover-doubt-systems = записи подтверждали серверы разных систем баз данных
failover-doubt-no-writes = после сбоя { $fault } ничего не подтверждено
failover-doubt-no-timeline = после сбоя { $fault } другой сервер не стал основным
failover-doubt-ledger-open = журнал записей не закрыт и может быть неполным
failover-doubt-ledger-torn = конец журнала записей ({ $bytes ->
    [one] { $bytes } байт
    [few] { $bytes } байта
   *[many] { $bytes } байт
 }) прочитать нельзя
failover-doubt-ledger-contradiction = в журнале записей { $entries ->
    [one] { $entries } строка противоречит
    [few] { $entries } строки противоречат
   *[many] { $entries } строк противоречат
 } другим
failover-doubt-ledger-gaps = в журнале записей нет исхода { $writes ->
    [one] { $writes } записи
   *[other] { $writes } записей
 }
failover-doubt-promise-unknown = неизвестно, что было обещано об { $writes ->
    [one] { $writes } исчезнувшей записи
   *[other] { $writes } исчезнувших записях
 }
failover-doubt-promise-changed = записи потеряны во время смены обещания
failover-doubt-invariant = ни один сервер не вернул результат инварианта
failover-doubt-fsync = на сервере выключен `fsync`: сбой его операционной системы может потерять любую запись
failover-doubt-no-fault = ни один сбой не внесён
failover-doubt-no-control = не было положительного контроля
failover-doubt-control-lossless = положительный контроль ничего не потерял

failover-unresolved-writes = Ещё { $writes ->
    [one] { $writes } запись могла быть отправлена
    [few] { $writes } записи могли быть отправлены
   *[many] { $writes } записей могли быть отправлены
 }; это неизвестно, потому что журнал записей не закрыт.
failover-control-lossless = Положительный контроль{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 } ничего не потерял за { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 }, поэтому не показано, что потеря была бы обнаружена.
failover-control-lost = Положительный контроль{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 }, с теми же сбоями, но без обещания, потерял { $lost ->
    [one] { $lost } подтверждённую запись
    [few] { $lost } подтверждённые записи
   *[many] { $lost } подтверждённых записей
 } в { $lossy } из { $trials ->
    [one] { $trials } измерения
   *[other] { $trials } измерений
 }: потери обнаруживаются.
# Время до сбоя или после него.
failover-moment = { $before ->
    [true] за { $time } до сбоя
   *[false] через { $time } после сбоя
 }
# `longest`: сколько записей потеряно подряд. `first`, `last` — это failover-moment.
failover-recovery-point = Наибольшая потеря без обещания в одном измерении{"\u00A0"}— { $writes ->
    [one] { $writes } запись
    [few] { $writes } записи
   *[many] { $writes } записей
 } { $sessions ->
    [one] { $sessions } сеанса
   *[other] { $sessions } сеансов
 }, подряд не больше { $longest }{ $first ->
    [none] {""}
   *[other] { $last ->
        [none] ; время подтверждения{"\u00A0"}— { $first }
       *[other] ; первая подтверждена { $first }, последняя{"\u00A0"}— { $last }
     }
 }.

# Что сбой сделал с узлами.
failover-fault-kill = все процессы убиты
failover-fault-kill-postmaster = убит главный процесс
failover-fault-kill-manager = убит процесс { $manager }
failover-fault-pause = процессы приостановлены
failover-fault-restart = перезапуск
failover-fault-switchover = плановое переключение
failover-fault-isolate = изолирован от сети
failover-fault-separate = изолирован от других серверов
failover-fault-separate-nodes = изолирован от части узлов
failover-fault-freeze-disk = диск заморожен
failover-fault-shift-clock = часы сдвинуты
failover-fault-fill-disk = диск заполнен
failover-fault-block-replication = репликация заблокирована
failover-fault-run = команда из эксперимента
failover-fault-external = воздействие извне
failover-dual-primary = { $old } и { $new } одновременно были основными до { $until }
failover-fault-failed = сбой не внесён: { $fault }
failover-fault-injected = { $nodes }: { $fault }{ $end ->
    [none] {""}
   *[other] {" "}(до { $end })
 }
failover-promoted = { $node }: повышен до основного, линия времени { $timeline }{ $safe ->
    [false] , могло не хватать записей
   *[other] {""}
 }{ $healthy ->
    [none] {""}
   *[other] , готовность с { $healthy }
 }
failover-rejoined = { $node }: вернулся репликой, { $rewound ->
    [true] отмотан назад
   *[false] скопирован заново
 } за { $duration }
failover-read-back = { $node }: { $phase } прочитано { $tokens ->
    [one] { $tokens } метка
    [few] { $tokens } метки
   *[many] { $tokens } меток
 }
failover-read-after-load = после нагрузки
failover-read-after-rejoin = после возврата прежнего основного сервера
failover-read-after-restart = после перезапуска всех серверов
failover-no-invariant = до нагрузки не удалось прочитать инварианты: { $error }
failover-no-monitor = не удаётся наблюдать за серверами: { $error }
failover-ledger-not-written = не удаётся записать журнал записей: { $error }
failover-ledger-ended = журнал записей закончился раньше нагрузки: { $error }
failover-load-ended = нагрузка закончилась, когда ещё не было внесено сбоев: { $left } из { $all }
failover-no-new-primary = ни один сервер не стал основным
failover-no-primary = ни один сервер не принимает запись
failover-no-read-back = не удалось прочитать записанное: { $error }
failover-event-timeline = линия времени { $timeline }
failover-event-rewound = отмотан назад
failover-event-copied = скопирован заново


### Размеры таблиц: tables-

tables-heading = Таблицы
tables-caption = Размеры до первого и после последнего измерения; рост за измерение, медиана
tables-column-cell = ячейка
tables-column-table = таблица
tables-column-heap-before = таблица, до
tables-column-heap-after = таблица, после
tables-column-indexes-before = индексы, до
tables-column-indexes-after = индексы, после
tables-column-growth = рост за измерение
tables-column-dead = мёртвых строк
tables-column-trials = измерений


### Freshness of replicas: freshness-

freshness-heading = Чтение с реплик
freshness-column-cell = ячейка
freshness-column-replica = реплика
freshness-column-reads = чтения
freshness-column-stale = устарело
freshness-column-unanswered = без ответа
freshness-column-visible = видно через, { $quantile }
freshness-column-not-visible = не видно за { $bound }

freshness-no-answer = ни одна реплика не ответила на чтение свежих записей
freshness-all-visible = сразу после подтверждения каждая запись была видна: { $reads ->
    [one] { $reads } чтение
    [few] { $reads } чтения
   *[many] { $reads } чтений
 } с { $replicas ->
    [one] { $replicas } реплики
   *[other] { $replicas } реплик
 } (95{"\u00A0"}%: устаревших менее { $highest })
freshness-some-stale = сразу после подтверждения записи не было видно в { $share } с { $replica }
freshness-round-robin-fresh = Сеанс, читавший с реплик по очереди, ни разу не увидел более старых данных, чем прежде: { $reads ->
    [one] { $reads } чтение
    [few] { $reads } чтения
   *[many] { $reads } чтений
 } (95{"\u00A0"}%: таких менее { $highest }).
freshness-round-robin-stale = Сеанс, читавший с реплик по очереди, увидел более старые данные, чем прежде, в { $share }.
freshness-remote-apply = При remote_apply фиксация ждёт, пока её применит каждая реплика, и устаревших чтений быть не должно; { $kept ->
    [true] их не было
   *[false] они были
 }.
freshness-share = { $share } (95{"\u00A0"}%: от { $low } до { $high }) из { $reads ->
    [one] { $reads } чтения
   *[other] { $reads } чтений
 }


### Comparison of runs: compare-

compare-title = Сравнение
compare-heading-confounders = Искажающие отличия
compare-heading-conditions = Условия
compare-heading-figures = Показатели
compare-heading-differences = Другие отличия
compare-heading-left-out = Не учтено
compare-column-operation = операция
compare-column-figure = показатель
compare-column-base = база
compare-column-run = прогон
compare-column-change = изменение
compare-column-interval = 95{"\u00A0"}%
compare-column-verdict = вывод
compare-column-method = критерий
# Все операции вместе.
compare-all-operations = все
compare-no-differences = план, версии и машина одинаковы

compare-metric-tps = выполнено, транз/с
    .requests = выполнено, запр/с
compare-metric-p50 = время ответа, p50
compare-metric-p90 = время ответа, p90
compare-metric-p99 = время ответа, p99
compare-metric-p999 = время ответа, p99.9
compare-metric-service-p50 = время обслуживания, p50
compare-metric-service-p99 = время обслуживания, p99
compare-metric-errors = ошибки
compare-metric-differences = отличия от записи
compare-metric-generator-cpu = ЦП генератора
compare-metric-pooler-cpu = ЦП пулера
compare-metric-server-cpu = ЦП PostgreSQL
compare-no-evidence = не доказано
compare-too-few = мало измерений
compare-faster = быстрее
compare-slower = медленнее
compare-higher = выше
compare-lower = ниже
compare-percentage-points = { $points }{"\u00A0"}п.{"\u00A0"}п.

# У единственной ячейки сравнения есть имя; без матрицы имени нет.
compare-question-cells = Чем ячейки прогона { $base } отличаются от { $baselines ->
    [1] { $cell ->
        [none] его ячейки сравнения
       *[other] ячейки { $cell }
    }
   *[other] своих ячеек сравнения
 }?
compare-cell-twice = «{ $cell }» выбирает ячейку, которую уже выбирает другой --cell: выберите другую
compare-one-cell = в прогоне только одна ячейка: сравните его с другим прогоном, например `pgdyno compare BASE RUN`
cell-unknown = нет ячейки, подходящей под «{ $wanted }»: напишите одно из { $cells }
cell-ambiguous = под «{ $wanted }» подходят несколько ячеек: напишите одно из { $cells }
compare-question-runs = Что изменилось по сравнению с прогоном { $base }: { $runs }?
compare-answer = { $run }: { $result }{ $confounders ->
    [0] {""}
    [one] ; но на показатели влияет и ещё { $confounders } отличие
    [few] ; но на показатели влияют и ещё { $confounders } отличия
   *[many] ; но на показатели влияют и ещё { $confounders } отличий
 }.
compare-answer-nothing = сравнивать нечего
compare-answer-too-few = измерений слишком мало, чтобы обнаружить различие
compare-answer-no-evidence = ни для одного из { $figures ->
    [one] { $figures } показателя
   *[other] { $figures } показателей
 } различие не доказано
compare-answer-changes = из { $figures ->
    [one] { $figures } показателя
   *[other] { $figures } показателей
 }: { $changes }
compare-answer-better = лучше — { $count }
compare-answer-worse = хуже — { $count }
compare-answer-other = иначе — { $count }

# Первый экран. `tps` и `p99`: changed, unknown (не доказано) или few (мало измерений). `pairs`: число пар, если ни в
# одной нет изменения.
compare-overview = { $tps ->
    [few] Слишком мало измерений, чтобы сравнить пропускную способность
    [unknown] Изменение пропускной способности не доказано
   *[changed] Пропускная способность{ $name ->
        [none] {""}
       *[other] {" "}({ $name })
    } изменилась на { $tps_change }
 }{ $pairs ->
    [none] {""}
   *[other] {" "}(пар: { $pairs })
 }{ $p99 ->
    [changed] ; p99 — на { $p99_change }
   *[other] {""}
 }.{ $unlike ->
    [none] {""}
   *[other] {" "}Прогоны неодинаковы.
 }
compare-overview-values = { $base } → { $run }{ $interval ->
    [none] {""}
   *[other] ; 95 % ДИ { $interval }
 }
compare-overview-changed = Пары с изменением
compare-overview-changed-of = из { $total }, по пропускной способности
compare-overview-conditions = выполнено { $met } из { $total }
compare-overview-likeness = Сопоставимость
compare-overview-alike = условия равны
compare-overview-alike-detail = других различий, влияющих на показатели, нет
compare-overview-unlike = условия разные
compare-overview-unlike-detail = различаются также: { $subjects }
compare-subject = { $subject ->
    [transport] соединение
    [server] версия PostgreSQL
    [limits] ограничения
    [machine] машина
    [dataset] данные
    [load] нагрузка
    [operations] операции
    [settings] настройки
    [pgdyno] версия pgdyno
   *[objectives] цели
 }
compare-caption-figures = Изменение каждого показателя и 95 % ДИ
compare-caption-pairs = Изменение пропускной способности каждой пары и 95 % ДИ
compare-axis-change = Изменение, %
compare-no-change = без изменений
compare-dull-pairs = Изменение не доказано ни по одному показателю, пар: { $count } ({ $pairs }).

compare-confounders = { $count ->
    [one] { $count } отличие влияет
    [few] { $count } отличия влияют
   *[many] { $count } отличий влияют
 } на показатели независимо от проверяемого изменения:
compare-difference = { $path }: { $base } → { $run }{ $cells ->
    [none] {""}
   *[other] {" "}({ $cells })
 }{ $expected ->
    [true] , намеренно
   *[false] {""}
 }
compare-absent-value = нет

compare-method-trials = критерий Уэлча для { $base } и { $run ->
    [one] { $run } измерения
   *[other] { $run } измерений
 }
compare-method-pairs = парный критерий для { $pairs ->
    [one] { $pairs } пары
   *[other] { $pairs } пар
 } измерений, чередовавшихся по времени
compare-method-ranks = ранговый критерий для { $base } и { $run ->
    [one] { $run } измерения
   *[other] { $run } измерений
 }: в некоторых из них показатель равен 0
compare-method-blocks = блочный бутстреп для { $base_count } и { $run_count } блоков по { $base_seconds } и { $run_seconds }{"\u00A0"}с (корреляция соседних секунд { $base_correlation } и { $run_correlation }): сравниваются только эти измерения; что покажет ещё одно, неизвестно
compare-method-none = для критерия нужно по четыре измерения: в базе { $base ->
    [one] { $base } измерение
    [few] { $base } измерения
   *[many] { $base } измерений
 }, в прогоне { $run }

compare-excluded-trial = { $of_base ->
    [true] база
   *[false] прогон
 },{ $cell ->
    [none] {""}
   *[other] {" "}{ $cell },
 } измерение { $trial }: { $reason }
compare-unmatched-cells = есть только в { $of_base ->
    [true] базе
   *[false] прогоне
 }: { $cells }
compare-condition = { $condition }{ $cell ->
    [none] {""}
   *[other] {" "}({ $cell })
 }: { $outcome }{ $value ->
    [none] {""}
   *[other] : { $value }
 }{ $low ->
    [none] {""}
   *[other] , от { $low } до { $high }
 }
compare-condition-met = выполняется
compare-condition-not-met = не выполняется
compare-condition-unknown = неизвестно
compare-condition-absent = неизвестно: такого показателя у прогонов нет
compare-legend = медианы достоверных измерений; изменение — отношение медиан, для ошибок их разность; доверительные интервалы 95{"\u00A0"}% по повторной выборке измерений; доля ложных открытий среди { $figures ->
    [one] { $figures } показателя
   *[other] { $figures } показателей
 } — не более 5{"\u00A0"}%; seed { $seed }

compare-history-title = История
compare-history-heading-runs = Прогоны
compare-history-heading-changes = Изменения
compare-history-column-when = когда
compare-history-column-pgdyno = pgdyno
compare-history-column-postgresql = PostgreSQL
compare-history-column-trials = измерений
compare-history-question = Когда изменились показатели эксперимента { $experiment }?
compare-history-too-few = { $runs ->
    [one] { $runs } прогон
    [few] { $runs } прогона
   *[many] { $runs } прогонов
 } — слишком мало, чтобы обнаружить изменение: нужно пять до него и пять после.
compare-history-no-evidence = Среди { $runs ->
    [one] { $runs } прогона
   *[other] { $runs } прогонов
 } изменение не доказано.
compare-history-changes = { $changes ->
    [one] { $changes } изменение
    [few] { $changes } изменения
   *[many] { $changes } изменений
 } на { $runs ->
    [one] { $runs } прогон
    [few] { $runs } прогона
   *[many] { $runs } прогонов
 }.
compare-change-point = { $metric }, начиная с { $run }: { $before } → { $after } ({ $change }, p { $p })
# Вместе с этим не изменились ни план, ни версии, ни машина.
compare-history-no-difference = план, версии и машина при этом не менялись


### Experiment file: experiment-

# У ошибок есть атрибут `help`: что написать вместо этого. Слова пользователя и пути в аргументах уже в обратных кавычках.
experiment-or = { $first } или { $last }
experiment-keyword = `{ $keyword }`
# YAML и форма файла.
experiment-yaml = неверный YAML: { $reason }
    .help = { $cause ->
        [tab] отступы делайте пробелами, а не табуляцией
        [quote] закройте кавычку, которая здесь открывается
        [bracket] закройте скобку и разделите элементы запятыми
        [indentation] сделайте у всех ключей одного раздела одинаковый отступ пробелами
       *[special] заключите в кавычки тексты, в которых есть `: ` или ` #` или которые начинаются со специального символа
    }
experiment-file-size = файл слишком велик: { $size } кБ
    .help = сократите его до { $max } кБ; данные храните в файлах из `feeds`
experiment-second-document = в файле начинается второй документ YAML
    .help = пишите по одному эксперименту в файле
experiment-alias = псевдоним указывает на значение, внутри которого стоит
    .help = укажите значение, которое закончилось раньше этой строки
experiment-tag = тег YAML { $tag } не поддерживается
    .help = удалите тег
experiment-complex-key = список или отображение не может быть ключом
    .help = напишите перед двоеточием слово
experiment-duplicate-key = ключ { $key } повторяется
    .help = удалите его здесь или в строке { $line }
experiment-too-many-values = в файле больше { $max } значений
    .help = удалите часть значений или псевдонимы, которые повторяют большие значения
experiment-depth = вложенность значений больше { $max }
    .help = уменьшите вложенность
experiment-missing-key = { $path ->
    [none] в файле нет ключа `{ $key }`
   *[other] в { $path } нет ключа `{ $key }`
 }
    .help = { $key ->
        [operations] добавьте его, например `operations: {"{"} read: {"{"} sql: SELECT 1 {"}"} {"}"}`
        [load] добавьте его, например `load: {"{"} model: closed, clients: 8, duration: 10s {"}"}`
        [stack] добавьте его, например `stack: {"{"} postgres: {"{"}{"}"} {"}"}`
       *[other] добавьте `{ $key }: …`; ожидается { $kinds }
    }
experiment-unknown-key = { $path ->
    [none] неизвестный ключ { $key }
   *[other] неизвестный ключ { $key } в { $path }
 }
    .help = { $nearest ->
        [none] допустимые ключи: { $keys }{ $has_settings ->
            [true] ; прочие параметры программы пишутся в `settings`
           *[false] {""}
        }
       *[other] напишите `{ $nearest }`
    }
experiment-empty-mapping = раздел { $path } пуст
    .help = добавьте один из ключей: { $keys }
experiment-no-value = у { $path } нет значения
    .help = ожидается { $kinds }
experiment-invalid-value = { $path ->
    [none] неверное содержимое файла: { $value }
   *[other] неверное значение { $path }: { $value }
 }
    .help = { $example ->
        [none] ожидается { $kinds }
       *[other] напишите `{ $example }`
    }
experiment-cut-at-comma = значение { $key } обрывается на запятой
    .help = заключите его в кавычки: `{ $example }`
experiment-typographic-quotes = { $text } начинается с типографской кавычки
    .help = пишите прямые кавычки: "…"
experiment-renamed = { $old } теперь называется иначе
    .help = напишите { $new }
experiment-unknown-word = неверное значение { $path }: { $value }
    .help = напишите `{ $nearest }`
experiment-list-length = в { $path } { $count ->
    [one] { $count } значение
    [few] { $count } значения
   *[many] { $count } значений
 }
    .help = число значений должно быть равно { $length }
experiment-too-small = слишком малое значение { $path }: { $value }
    .help = напишите не меньше { $min }
experiment-too-large = слишком большое значение { $path }: { $value }
    .help = напишите не больше { $max }
experiment-integer = значение { $path } — не целое число: { $value }
    .help = { $nearest ->
        [none] напишите целое число, например 12 или `1_000`
       *[other] напишите { $nearest }
    }
experiment-number = значение { $path } — не число: { $value }
    .help = { $nearest ->
        [none] напишите число, например `0.5`
       *[other] напишите { $nearest }
    }
experiment-boolean = значение { $path } — не логическое: { $value }
    .help = { $nearest ->
        [none] напишите `true` или `false`
       *[other] напишите { $nearest }
    }

# Виды значений после слова «ожидается».
experiment-kind-mapping = отображение (ключ: значение)
experiment-kind-list = список
experiment-kind-integer = целое число
experiment-kind-number = число
experiment-kind-boolean = `true` или `false`
experiment-kind-text = строка
experiment-kind-json = значение, которое передаётся как JSON
experiment-kind-duration = длительность, например `10s` или `50ms`
experiment-kind-bytes = размер, например `256MB`
experiment-kind-offset = сдвиг, например `+2m` или `-90s`
experiment-kind-bytes-per-second = число байт в секунду, например `10MB`
experiment-kind-share = доля, например `0.1` или `10%`
experiment-kind-pause = пауза, например `50ms` или `exponential(1s)`
experiment-kind-order = порядок, например `shuffled` или `zipfian(1.2)`
experiment-kind-status = код состояния, например 200 или `2xx`

# Величины с единицами.
experiment-duration = неверная длительность: { $text }
    .help = напишите длительность до 100 дней, например `10s`, `50ms` или `1m30s`
experiment-duration-without-unit = у длительности { $text } нет единицы
    .help = напишите `{ $number }s` или `{ $number }ms`
experiment-duration-unit = неизвестная единица в длительности { $text }
    .help = { $example ->
        [none] единицы: `ns`, `us`, `ms`, `s`, `m`, `h` и `d`
       *[other] напишите { $example }
    }
experiment-duration-zero = значение `{ $key }` должно быть больше 0
    .help = напишите длительность, например `10s`
experiment-whole-seconds = значение `{ $key }` — не целое число секунд: { $value }
    .help = напишите целое число секунд, не меньше `1s`
experiment-bytes = неверный размер: { $text }
    .help = { $example ->
        [none] напишите размер, например `256MB` или `1GB`; единицы: `B`, `kB`, `MB`, `GB` и `TB`
       *[other] напишите { $example }
    }
experiment-bytes-per-second = неверное число байт в секунду: { $text }
    .help = напишите размер, например `10MB`: это 10 МБ в секунду
experiment-share = неверная доля: { $text }
    .help = напишите число от 0 до 1 или проценты, например `0.1` или `10%`
experiment-pause = неверная пауза: { $text }
    .help = напишите паузу, например `50ms`, `exponential(1s)` или `lognormal(1s, 0.5)`
experiment-sigma = неверное σ логнормального распределения: { $text }
    .help = напишите число от 0 до 4, например `lognormal(1s, 0.5)`
experiment-order = неизвестный порядок строк: { $text }
    .help = напишите `sequential`, `shuffled`, `random`, `once` или `zipfian(1.2)`
experiment-exponent = неверный показатель распределения Ципфа: { $text }
    .help = напишите число от `1.001` до 1000, например `zipfian(1.2)`
experiment-status = неверный код состояния: { $text }
    .help = напишите число от 100 до 599, например 200, `2xx` или `200-299`

# Ошибки нескольких разделов.
experiment-conflicting-keys = `{ $second }` нельзя сочетать с `{ $first }`
    .help = удалите один из ключей
experiment-out-of-range = значение `{ $key }` вне допустимых границ: { $value }
    .help = напишите значение от { $min } до { $max }
experiment-too-many = слишком много элементов в `{ $key }`: { $count }
    .help = оставьте не больше { $max }
experiment-variable-name = { $name } не может быть именем переменной
    .help = используйте буквы, цифры и _; имя не начинается с цифры
experiment-invalid-name = недопустимое имя: { $name }
    .help = напишите имя длиной от 1 до { $max } байт без управляющих символов
experiment-name-lookalike = { $name } выглядит как { $plain }
    .help = напишите { $plain }
experiment-name = недопустимое имя эксперимента: { $name }
    .help = используйте от 1 до 64 строчных латинских букв, цифр и дефисов, например `{ $example }`
experiment-no-quick = в файле нет раздела `quick`
    .help = уберите --quick или добавьте в файл раздел, например `quick: {"{"} repeat: 1, load.duration: 2s {"}"}`
experiment-set-syntax = в { $text } нет знака `=`
    .help = напишите путь=значение, например `pooler.size=24`

# Матрица.
experiment-unknown-path = неизвестный путь { $path }
    .help = { $instead ->
        [none] { $nearest ->
            [none] { $keys ->
                [none] напишите путь из ключей, например `pooler.size` или `load.clients`
               *[other] допустимые пути: { $keys }
            }
           *[other] напишите `{ $nearest }`
        }
       *[other] задайте то, что в файле пишется как `{ $instead }`
    }
experiment-meta-path = { $key } нельзя задать
    .help = измените это в файле; `--set` и `quick` задают ключи, например `pooler.size`, и значения осей
experiment-obstacle-value = у `{ $path }` значение { $value }
experiment-obstacle-list = `{ $path }` — список
experiment-set-obstacle = { $path } нельзя задать: { $obstacle }
    .help = задайте это значение целиком
experiment-axis-obstacle = { $path } нельзя задать во всех ячейках: { $obstacle }
    .help = добавьте { $cell } в `skip`
experiment-matrix-size = в матрице слишком много ячеек: { $count }
    .help = сократите её до { $max } ячеек
experiment-skip-all = `skip` исключает все ячейки
    .help = удалите часть записей `skip`
experiment-axis-empty = у оси { $axis } нет значений
    .help = добавьте значения, например [1, 2], или удалите ось
experiment-axis-duplicate = значение { $value } повторяется на оси { $axis }
    .help = удалите его; число измерений каждой ячейки задаёт `repeat`
experiment-axis-lookalike = { $value } выглядит как другое значение оси { $axis }
    .help = дайте значениям имена, например {"`way: { first: { path: value }, second: { path: value } }`"}
experiment-axis-common = { $path } не может различаться между ячейками
    .help = задайте его вне `matrix`
experiment-axis-sets = ось { $axis } тоже задаёт { $path }
    .help = выберите значение { $axis } или удалите это присваивание
experiment-unknown-axis = в матрице нет оси { $axis }
    .help = { $nearest ->
        [none] { $axes ->
            [none] удалите этот ключ: в файле нет раздела `matrix`
           *[other] оси матрицы: { $axes }
        }
       *[other] напишите `{ $nearest }`
    }
experiment-unknown-value = у оси { $axis } нет значения { $value }
    .help = { $nearest ->
        [none] значения оси: { $values }
       *[other] напишите { $nearest }
    }
experiment-baseline-skipped = базовая ячейка исключена в `skip`
    .help = выберите другую ячейку
experiment-baseline-all = `baseline` соответствует всем ячейкам
    .help = {"укажите значение оси, у которой их несколько, например `baseline: { way: direct }`"}

# Стек.
experiment-stack-postgres = в стеке нет PostgreSQL
    .help = {"добавьте `postgres: {}`"}
experiment-attached-chain = подключённый `{ $attached }` не может передавать запросы узлу `{ $node }`, который запускает pgdyno
    .help = { $node ->
        [postgres] удалите `postgres` или тоже укажите его адрес в `attach`
       *[other] укажите адрес `{ $node }` в `attach`
    }
experiment-attached-key = `{ $key }` нельзя сочетать с `{ $address }`: pgdyno не настраивает подключённые системы
    .help = удалите `{ $key }`
experiment-address = неверная строка подключения: { $text }
    .help = напишите строку подключения libpq, например `postgres://host:5432/database`
experiment-address-password = в строке подключения указан пароль
    .help = удалите его из файла; задайте `PGPASSWORD` или запишите пароль в `~/.pgpass`
experiment-pooler-admin = `admin` задаётся только для подключённого пулера
    .help = удалите его: консоль пулера, который запускает pgdyno, известна
experiment-pooler-mode = { $product } не поддерживает режим пула { $mode }
    .help = напишите { $modes }
experiment-pooler-option = у { $product } нет параметра `{ $key }`
    .help = удалите его или напишите { $others }
experiment-pooler-version = { $text } — не та версия { $product }, которую поддерживает pgdyno
    .help = напишите { $oldest } или новее
experiment-pooler-setting-version = в { $product } до версии { $since } нет параметра `{ $name }`
    .help = добавьте пулеру `version: { $since }` или удалите параметр
experiment-pooler-prepared = в режиме пула { $mode } эта версия { $product } не поддерживает подготовленные операторы
    .help = напишите `query_mode: extended`{ $version ->
        [none] {" "}или `mode: session`
       *[other] , `mode: session` или `version: { $version }` у пулера
    }
experiment-pooler-statement-mode = { $operation } начинает транзакцию, а режим пула `statement` их отклоняет
    .help = напишите `mode: transaction` или удалите `BEGIN`
experiment-pool-size = пул из { $size } соединений больше, чем допускает PostgreSQL: `max_connections` — { $connections }, из них { $reserved } зарезервировано
    .help = { $free ->
        [none] напишите `postgres.max_connections: { $needed }`
       *[other] напишите не больше { $free } или задайте `postgres.max_connections: { $needed }`
    }
experiment-balancer-kind = в `stack.balancer` нет ключа `kind`
    .help = добавьте `kind: { $kind }`
experiment-balancer-duration = значение `{ $key }` меньше `1ms` — точности { $product }
    .help = напишите не меньше `1ms`
experiment-setting = PostgreSQL отвергает этот параметр: `{ $reason }`
    .help = { $nearest ->
        [none] { $hint ->
            [none] см. главу «Настройка сервера» в документации PostgreSQL
           *[other] `{ $hint }`
        }
       *[other] напишите `{ $nearest }`
    }
experiment-managed-setting = параметром `{ $setting }` узла `{ $node }` управляет pgdyno
    .help = { $key ->
        [none] удалите его; транспорт задаёт ключ `transport`
       *[other] напишите его как `{ $key }`
    }
experiment-tls-behind = { $product } передаёт TLS дальше, но `{ $next }` не принимает TLS
    .help = напишите `tcp` или `{ $next }.transport: tls`
experiment-tls-before = { $product } передаёт TLS дальше, но TLS включён только у `{ $next }`
    .help = напишите `balancer.transport: tls` или `{ $next }.transport: tcp`
experiment-limit-memory = предел памяти меньше `1MB`
    .help = напишите не меньше `1MB`, например `256MB`
experiment-limit-zero = значение `{ $key }` должно быть больше 0
    .help = напишите не меньше 1 или удалите ограничение
experiment-limit-cpu-twice = ЦП { $cpu } указан дважды
    .help = укажите каждый ЦП один раз, например [0, 1]
experiment-limit-cpu = предел { $cpu } ЦП больше, чем { $count } ЦП в `cpus`
    .help = напишите не больше { $count }

# Хосты с общими ограничениями.

experiment-host-name = недопустимое имя хоста: { $name }
    .help = используйте строчные латинские буквы, цифры, `-` и `_`, например `web`
experiment-host-reserved = хост нельзя назвать { $name }: это имя узла или его начало
    .help = напишите другое имя, например `machine`
experiment-host-empty = на хосте нет узлов
    .help = добавьте их, например `nodes: [pooler, balancer]`
experiment-host-node = узла { $name } нет
    .help = напишите { $known }
experiment-host-attached = узел { $name } подключён извне, поэтому его нельзя ограничить
    .help = уберите его с хоста
experiment-host-twice = узел { $node } уже находится на хосте `{ $host }`
    .help = удалите одну из двух записей
experiment-host-per-copy = { $name } запускается не для каждой копии сервиса
    .help = уберите его с хоста или напишите `per: stack`
experiment-host-limits = у хоста нет ограничений
    .help = добавьте `cpu`, `memory` или `cpus`
experiment-host-quota = предел ЦП узла `{ $name }`, { $cpu }, больше предела его хоста, { $quota }
    .help = уменьшите или удалите предел узла `{ $name }`

# Сервисы.
experiment-service-command = в `stack.service` нет ключа `command`
    .help = добавьте команду, например `command: [target/shop, --quiet]`, несколько программ (`programs`) или `url` работающего сервиса
experiment-service-both = в `stack.service` есть и `command`, и `programs`
    .help = перенесите команду в `programs`, например `web: {"{"} command: […] {"}"}`
experiment-service-limits = у программ сервиса свои ограничения
    .help = перенесите `limits` в элементы `programs` или задайте общие ограничения хоста в `stack.hosts`
experiment-program-name = недопустимое имя программы: { $name }
    .help = используйте строчные латинские буквы, цифры, `-` и `_`, например `web`
experiment-program-reserved = программу нельзя назвать { $name }: с этого начинаются имена переменных базы данных
    .help = напишите другое имя
experiment-program-command = у программы `{ $name }` нет команды
    .help = добавьте её, например `command: [nginx, -c, "${"{"}dir{"}"}/nginx.conf"]`
experiment-programs-none-serves = ни одна программа сервиса не принимает запросы по его адресу: у всех указано `per: stack`
    .help = удалите `per: stack` у программы, которая принимает запросы, и поставьте её последней
experiment-program-ready-serving = программа `{ $name }` принимает запросы по адресу сервиса, поэтому к ней относится `stack.service.ready`
    .help = перенесите путь в `stack.service.ready`
experiment-program-ready = { $text } не определяет, когда программа готова
    .help = напишите путь, например `/health`, `port`, сокет, например `${"{"}dir{"}"}/fpm.sock`, или `running`
experiment-file-name = { $name } — не относительный путь внутри каталога сервиса
    .help = напишите имя, например `nginx.conf` или `conf/nginx.conf`
experiment-file-twice = файл { $name } записывается дважды
    .help = удалите один из элементов или измените его имя
experiment-template-file = не удалось прочитать шаблон { $file }: { $error }
    .help = напишите путь относительно этого файла
experiment-stats-program = у сервиса нет программы { $program }
    .help = напишите { $programs }
experiment-stats-no-programs = сервис состоит из одной программы, программы { $program } у него нет
    .help = удалите `program`
experiment-service-variable = `{ $variable }` — не переменная
    .help = напишите { $variables }; текст, который не является переменной, начните с `$${"{"}`
experiment-variable-secret = в аргументах программы нельзя писать `{ $variable }`: их могут прочитать все пользователи машины
    .help = напишите переменную в файле из `files` или в `env`
experiment-variable-no-database = у `{ $variable }` нет значения: в стенде нет базы данных
    .help = добавьте `postgres` в `stack`
experiment-variable-no-replicas = у `{ $variable }` нет значения: сразу за сервисом нет балансировщика с репликами
    .help = добавьте в `stack` ключи `replicas` и `balancer` без пулера или напишите переменную `database`
experiment-variable-of-copy = у `{ $variable }` нет значения в программе с `per: stack`: она не относится ни к одному экземпляру
    .help = удалите переменную или `per: stack`
experiment-service-path = { $path } — не путь
    .help = напишите путь, например `{ $example }`
experiment-stats-twice = эта страница указана дважды
    .help = удалите её
experiment-stats-url-and = `{ $key }` нельзя сочетать с `url`
    .help = запишите путь и порт в `url` и удалите `{ $key }`
experiment-stats-copies = из-за `{ $key }` у всех экземпляров сервиса одна общая страница
    .help = удалите `{ $key }` или `copies`: страницу с ключом `path` каждый экземпляр отдаёт сам
experiment-stats-no-path = у страницы нет адреса
    .help = добавьте путь, например `path: /status`, или `url`
experiment-stats-series = ключ `series` есть только у страниц Prometheus
    .help = удалите его или добавьте `form: prometheus`
experiment-stats-series-name = { $name } — не имя метрики
    .help = напишите имя без меток, например `http_requests_total`
experiment-metrics-path = в URL нет пути к странице с метриками
    .help = напишите URL, например `{ $example }`
experiment-metrics-unused = `{ $node }.metrics` действует только для подключённой системы: показатели этой машины pgdyno снимает сам
    .help = удалите этот ключ или подключите систему с помощью `{ $address }`
experiment-env-reserved = переменную окружения `{ $name }` задаёт pgdyno
    .help = удалите её
experiment-env-name = недопустимое имя переменной окружения: { $name }
    .help = напишите имя, например `POOL_SIZE`
experiment-url = неверный URL: { $problem ->
    [blank] в нём пробел или управляющий символ
    [socket] нет пути к сокету
    [relative] путь после сокета не начинается с `/`
    [no-scheme] он не начинается с `http://`, `https://` или `unix:`
    [scheme] неизвестная схема `{ $scheme }`
    [password] в нём имя пользователя или пароль
    [after-bracket] после `]` стоит не порт
    [ipv6] между `[` и `]` нет адреса `IPv6`
    [host] нет хоста
   *[port] порт не от 1 до 65535
 }
    .help = напишите URL, например `http://127.0.0.1:8080`
experiment-url-password = в URL указаны имя пользователя и пароль
    .help = передавайте их в заголовке
experiment-page-password = в URL указаны имя пользователя и пароль
    .help = удалите их: страницы pgdyno читает без входа; разрешите запросы с этой машины без пароля на сервере, который отдаёт страницу
experiment-url-path = в URL указан путь { $path }
    .help = удалите его; пути задаются в операциях

# Системы на других машинах.
experiment-allow-missing = `{ $address }` — на другой машине
    .help = добавьте `allow: "{ $address }"`, если это ваша система и её можно нагружать
experiment-allow-differs = { $allow } не совпадает с адресом в `{ $key }`
    .help = напишите `{ $address }`, если эту систему можно нагружать
experiment-guard-unused = `{ $node }.{ $key }` действует только для подключённой системы
    .help = удалите этот ключ или подключите систему с помощью `{ $address }`
experiment-caps-local = `{ $node }.caps` действует только для систем на других машинах
    .help = удалите этот ключ или добавьте `allow: "{ $address }"`, если адрес ведёт на другую машину
experiment-caps-other-sessions = `caps.other_sessions` не действует для сервисов: других их клиентов нельзя сосчитать
    .help = удалите этот ключ
experiment-cap-rate = значение `caps.rate` должно быть больше 0: { $rate }
    .help = напишите число запросов в секунду, например 100
experiment-cap = { $key ->
    [clients] число клиентов { $value }
   *[other] { $value }
 } больше предела { $cap } для систем на других машинах
    .help = уменьшите значение или увеличьте `{ $node }.caps.{ $key }`
experiment-warmup-remote = `warmup` недопустим, так как `{ $node }` на другой машине: прогрев идёт с полной нагрузкой
    .help = удалите его; начните расписание с малой частоты

# Нагрузка.
experiment-load-key = `{ $key }` нельзя использовать с `model: { $model }`
    .help = { $other ->
        [none] { $model ->
            [replay] удалите его: нагрузку определяет запись
           *[other] { $key ->
                [clients] используйте `max_in_flight` — наибольшее число одновременных транзакций
                [users] используйте `max_in_flight` — наибольшее число одновременных транзакций
                [duration] удалите его: длительность задаёт расписание
                [max_in_flight] используйте `clients`
                [coefficient] удалите его: в закрытой модели частоты служат только весами
                [traffic] напишите `model: replay`, чтобы сохранить записанное время, или `model: open`, чтобы начинать записанные транзакции по расписанию
                [schedule] удалите его: в закрытой модели транзакция начинается после конца предыдущей
                [arrivals] удалите его: в закрытой модели транзакция начинается после конца предыдущей
               *[other] удалите его: моменты начала задаёт расписание
            }
        }
       *[other] напишите `model: { $other }` или удалите этот ключ
    }
experiment-sql-braces = `{"$"}{"{"}{ $name }{"}"}` в SQL не подставляется
    .help = напишите `:{ $name }`
experiment-sql-folded = YAML соединяет строки этого текста в одну
    .help = напишите `sql: |`, а текст — в строках ниже, с отступом
experiment-colon-variable = `:{ $name }` в запросе не подставляется
    .help = напишите `{"$"}{"{"}{ $name }{"}"}` или, если это не переменная, `%3A{ $name }`
experiment-missing-colon = после `{ $name }` нет `: `
    .help = напишите `{ $corrected }`
experiment-key-of-file = { $key } не относится к { $path }
    .help = { $operation ->
        [none] напишите его в начале строки: `{ $name }: …`
       *[other] напишите его в начале строки: `objectives: ["{ $operation }: p99 < 200ms"]`
    }
experiment-objectives-mapping = `objectives` — это отображение (ключ: значение)
    .help = напишите список: `objectives: [{ $list }]`
experiment-load-open = `model: open` начинает транзакции по расписанию, без { $keys }
    .help = напишите
        load:
          model: open
          schedule: line(1, 200, 60s)
          max_in_flight: 100
        и уберите { $keys } из `load`, `matrix` и `quick`
experiment-load-key-missing = для `model: { $model }` нужен ключ `{ $key }`
    .help = { $key ->
        [clients] добавьте число клиентов, например `clients: 8`
        [duration] добавьте длительность, например `duration: 30s`
        [max_in_flight] добавьте наибольшее число одновременных транзакций, например `max_in_flight: 100`
        [traffic] добавьте путь к записи, например `traffic: shop.traffic`
       *[other] добавьте частоту по времени, например `schedule: line(1, 200, 200s)`
    }
experiment-recording-unreadable = запись { $file } нельзя использовать: { $reason }
    .help = укажите путь к записи, которую сделал `pgdyno record` или `pgdyno capture`, относительно файла эксперимента
experiment-recording-empty = в ней нет запросов
experiment-recording-unfinished = в ней нет ни одной полной транзакции
experiment-traffic-key = `{ $key }` нельзя использовать вместе с `traffic`
    .help = удалите его: транзакции берутся из записи и отправляются так, как были записаны
experiment-replay-operations = у нагрузки с `traffic` нет операций: запросы содержатся в записи
    .help = удалите `operations`
experiment-replay-find = у воспроизведения нет цели: нагрузку определяет запись
    .help = удалите `find` и `prove`; чтобы искать максимум, напишите `model: open`: записанные транзакции начинаются по расписанию
experiment-threads = потоков { $threads }, а клиентов { $clients }: клиент принадлежит одному потоку
    .help = напишите не больше { $clients }
experiment-users-zero = на всех ступенях 0 пользователей
    .help = добавьте ступень с пользователями, например {"`users: [{ users: 100, spawn_rate: 5, duration: 90s }]`"}
experiment-stage-too-short = ступень слишком коротка: переход от { $from } к { $to } пользователям при { $rate } в секунду занимает { $seconds } с
    .help = напишите `duration: { $seconds }s` или больше либо увеличьте `spawn_rate`
experiment-schedule-closed = в закрытой модели у операции не может быть своего `schedule`
    .help = используйте `weight` или напишите `model: open`
experiment-schedule-unused = расписание не действует: у каждой операции есть своё
    .help = удалите его или `schedule` одной из операций
experiment-schedule-too-long = расписание операции ({ $schedule }) длиннее нагрузки ({ $load })
    .help = сократите расписание операции
experiment-coefficient-unused = коэффициент не действует: ни у одной операции нет `rate`
    .help = добавьте операциям `rate` или удалите коэффициент
experiment-rate-sum = сумма частот — { $rate } в секунду, больше предела 10000000 в секунду
    .help = уменьшите коэффициент или частоты
experiment-load-http-key = `{ $key }` не действует: ни одна операция не использует HTTP
    .help = удалите этот ключ

# Цель.
experiment-find-mode = в `find` должен быть ровно один режим
    .help = напишите `max`, `confirm`, `soak`, `sweep` или `failover`
experiment-find-bounds = `limit` ({ $limit }) меньше, чем `from` ({ $from })
    .help = напишите не меньше { $from }
experiment-find-maximum = для `maximum` нужен `level`
    .help = удалите его: без `level` ищется максимум
experiment-share-zero = значение `share` должно быть больше 0%
    .help = напишите долю, например 80%
experiment-prove = для `prove` нужен поиск максимума
    .help = удалите его или напишите `find: max`
experiment-search-schedules = поиску нечего менять: у каждой операции свой `schedule`
    .help = удалите `schedule` хотя бы одной операции; её частоту задаст поиск
experiment-search-users = поиск не может менять `users`
    .help = используйте `clients`; их число задаст поиск

# Операции.
experiment-operations-empty = нет ни одной операции
    .help = добавьте операцию, например {"`read: { sql: SELECT 1 }`"}
experiment-operation-empty = у операции { $operation } нет действия
    .help = добавьте `sql`, `script` или метод HTTP, например `get: /path`
experiment-operation-service = в стеке нет сервиса для этой операции HTTP
    .help = добавьте {"`service: { command: […] }`"} или {"`service: { url: … }`"} для работающего сервиса
experiment-operation-database = в стеке нет PostgreSQL для этой операции SQL
    .help = добавьте в стек {"`postgres: { attach: … }`"} или отправляйте запросы HTTP
experiment-weights-zero = вес всех операций равен 0
    .help = задайте хотя бы одной операции `weight: 1`
experiment-rate-missing = у операции { $operation } нет `rate`, а у других есть
    .help = добавьте `rate` (в секунду) или задайте всем операциям `weight`
experiment-target-http = `target` не действует для операций HTTP
    .help = удалите этот ключ
experiment-target-replicas = `target` указывает на реплики, но их нет в стеке
    .help = удалите этот ключ или добавьте в стек {"`replicas: { count: 2 }`"}
experiment-key-beside-steps = `{ $key }` нельзя сочетать со `steps`
    .help = перенесите этот ключ в шаг
experiment-key-without-request = для `{ $key }` нужен метод HTTP
    .help = добавьте метод, например `get: /path`, или удалите этот ключ
experiment-set-script = `set` не действует для операций SQL
    .help = напишите `\set имя выражение` в сценарии
experiment-set-lines = выражение занимает несколько строк
    .help = напишите его в одну строку
experiment-script-file = не удалось прочитать сценарий { $file }: { $error }
    .help = напишите путь относительно этого файла
experiment-script-empty = в операции нет операторов SQL, только комментарии и точки с запятой
    .help = напишите оператор, например `SELECT 1`
experiment-unknown-variable = неизвестная переменная { $name } в { $operation }
    .help = { $nearest ->
        [none] { $names ->
            [none] добавьте `feed` с таким столбцом, вычислите переменную в `set` или извлеките её на более раннем шаге с помощью `capture`
           *[other] доступны { $names }; или вычислите переменную в `set`, или извлеките её на более раннем шаге с помощью `capture`
        }
       *[other] напишите `{ $nearest }`
    }
experiment-variable-syntax = с этого `$` не начинается переменная
    .help = напишите {"`${name}`"} для переменной или `$$` для знака доллара
experiment-document-markup = { $kind ->
    [heading] { $text } — заголовок, а в документе есть свои
    [html] { $text } — HTML, которого в документе быть не может
    [quote] { $text } — цитата, которой в документе быть не может
    [image] { $text } — картинка, которой в документе быть не может
    [table] { $text } — начало таблицы, которой в документе быть не может
    [rule] { $text } — черта, которой в документе быть не может
    [strikethrough] { $text } — зачёркнутый текст, которого в документе быть не может
    [deep-list] { $text } — в четвёртом вложенном списке, а в документе три уровня
   *[other] { $text } — разметка, которой в документе быть не может
}
    .help = пишите абзацы, списки, блоки кода, *курсив*, **жирный** и `код`; перед знаком, который не разметка, поставьте обратную косую черту
experiment-environment = { $is_set ->
    [true] значение переменной окружения `{ $name }` — не в UTF-8
   *[false] переменная окружения `{ $name }` не задана
 }
    .help = задайте её перед запуском, например `export { $name }=…`, или удалите её отсюда

# Запросы HTTP.
experiment-steps-empty = раздел `steps` пуст
    .help = добавьте шаги, каждый с методом, например `get: /path`
experiment-duplicate-step = имя шага { $name } повторяется
    .help = выберите другое имя: по нему шаги различаются в отчётах
experiment-request-method = у запроса нет метода
    .help = добавьте метод и путь, например `get: /books`
experiment-request-methods = у запроса два метода: `{ $first }` и `{ $second }`
    .help = удалите один из них или напишите два шага в `steps`
experiment-request-body = у запроса { $method } не может быть тела
    .help = используйте `post` или `put` либо перенесите поля в `query`
experiment-request-path = { $path } — не путь
    .help = напишите `{ $example }`; адрес задаётся в `stack.service`
experiment-request-path-empty = путь пуст
    .help = напишите путь, например `/books`
experiment-path-character = символ { $character } недопустим в пути
    .help = напишите `{ $encoded }` или перенесите значение в `query`, где оно кодируется
experiment-on-start-http = для `on_start` нужна операция, которая отправляет запросы сервису
    .help = удалите этот раздел: для SQL он не предусмотрен
experiment-defaults-unused = раздел `defaults` не действует ни для одной операции
    .help = удалите его: он относится к запросам к сервису
experiment-hook-empty = `{ $key }` не содержит команды
    .help = напишите программу и её аргументы, например `{ $key }: [./switch.sh, session]`
experiment-pause-first = первый шаг не может начинаться с паузы
    .help = перенесите её в один из следующих шагов; для паузы между операциями есть `load.think`
experiment-contains-empty = пустой текст есть в любом ответе
    .help = напишите текст, который должен или не должен быть в ответе
experiment-header-name = недопустимое имя заголовка: { $name }
    .help = используйте буквы, цифры и дефисы, например `Location`
experiment-header-reserved = заголовок { $header } задаёт pgdyno
    .help = удалите его
experiment-header-value = в значении заголовка { $header } есть перевод строки или управляющий символ
    .help = напишите значение в одну строку
experiment-json = неверный JSON: { $reason }
    .help = напишите JSON или значение YAML, например {"{ id: \"${id}\" }"}
experiment-json-pointer = { $text } — не указатель JSON
    .help = напишите указатель, например `{ $example }`
experiment-regex = неверное регулярное выражение: { $reason }
    .help = напишите, например, { $example }

# Раздел `feeds`.
experiment-feed-source = у ленты данных { $feed } нет источника
    .help = добавьте `file: …`, `sql: …` или {"`rows: [{ column: value }]`"}
experiment-feed-format-file = для `format` нужен `file`
    .help = удалите этот ключ
experiment-feed-lookup = { $text } — не столбец таблицы
    .help = напишите таблица.столбец или схема.таблица.столбец
experiment-feed-query = в стеке нет PostgreSQL для этого запроса
    .help = добавьте в стек {"`postgres: { attach: … }`"} или используйте `file`
experiment-log-format-file = для `log_format` нужен `file` с `format: access`
    .help = удалите этот ключ
experiment-log-format-fits = у журнала { $file } другой формат: { $reason }
    .help = скопируйте формат, с которым сервер писал журнал
experiment-feed-requests = запросы ленты { $feed } нельзя использовать: { $reason }
    .help = исправьте файл или его формат
experiment-by-tag = для `by_tag` нужен `ammo`, а у операции не должно быть своего `schedule`
    .help = удалите этот ключ
experiment-recorded-key = `{ $key }` нельзя указать вместе с `schedule: recorded`
    .help = удалите этот ключ: нагрузку определяет журнал
experiment-recorded-operation = у операции { $operation } нет записанного времени
    .help = при `schedule: recorded` у каждой операции есть `ammo` с лентой из журнала веб-сервера
experiment-recorded-feed = у ленты { $feed } нет записанного времени
    .help = используйте журнал веб-сервера или расписание, например `line(1, 200, 200s)`
experiment-recorded-no-times = у запросов ленты { $feed } нет времени
    .help = используйте журнал, в формате которого есть время, например `$time_local` или `%t`, или укажите расписание, например `line(1, 200, 200s)`
experiment-recorded-twice = запросы ленты { $feed } отправляют две операции
    .help = удалите одну из них; `by_tag: true` создаёт операцию для каждого вида запросов
experiment-recorded-find = у `schedule: recorded` нет цели: нагрузку определяет журнал
    .help = удалите `find` и `prove` или укажите расписание, например `line(1, 200, 200s)`
experiment-feed-query-empty = запрос пуст
    .help = напишите запрос, например `SELECT id FROM users`
experiment-fill-in = это значение не заполнено
    .help = замените `FILL_IN` выражением SQL или возьмите значения из файла
experiment-feed-format = по имени файла { $file } нельзя определить формат
    .help = добавьте `format`: `csv`, `tsv`, `jsonl`, `uri`, `uripost`, `raw` или `access`
experiment-feed-file = файл { $file } нельзя использовать: { $reason }
    .help = { $has_columns ->
        [true] напишите столбцы файла или удалите `columns`, если их называет первая строка файла
       *[false] напишите путь к файлу со строками относительно этого файла
    }
experiment-feed-rows = { $count ->
    [0] список `rows` пуст
   *[other] слишком много элементов в `rows`: { $count }
 }
    .help = напишите от 1 до { $max } строк; остальные храните в файле
experiment-ammo-columns = `columns` не действует для ленты запросов
    .help = удалите этот ключ: у запросов свои столбцы
experiment-duplicate-column = столбец { $column } повторяется
    .help = удалите его
experiment-row-empty = строка пуста
    .help = напишите столбцы и значения, например {"{ id: 1 }"}
experiment-row-lacks-column = в строке { $row } нет столбца { $column }
    .help = напишите в каждой строке столбцы первой строки
experiment-row-extra-column = в строке { $row } есть столбец { $column }, которого нет в первой
    .help = напишите в каждой строке столбцы первой строки
experiment-row-nul = в столбце { $column } есть байт NUL
    .help = удалите его: PostgreSQL не хранит NUL в тексте
experiment-unknown-feed = неизвестная лента данных { $feed }
    .help = { $nearest ->
        [none] добавьте его в `feeds`
       *[other] напишите `{ $nearest }`
    }
experiment-feed-is-values = в ленте данных { $feed } значения, а не запросы
    .help = используйте `feed` и запрос или задайте ленте `format: uri`
experiment-feed-is-requests = в ленте данных { $feed } запросы
    .help = напишите `ammo: { $name }` без запроса

# Данные.
experiment-dumps-empty = список дампов пуст
    .help = укажите хотя бы один файл
experiment-dump-unreadable = { $file } нельзя использовать как дамп: { $error }
    .help = укажите путь к файлу или каталогу, созданному `pg_dump`, относительно этого файла
experiment-dataset-name = у `dataset` нет ни `name`, ни `tables`, ни `restore`, ни `template`, ни `from`
    .help = добавьте в `name` `tickets`, `books`, `delivery`, `users`, `profiles` или `pgbench`, опишите `tables`, укажите файл дампа в `restore` или базу данных подключённого сервера в `template`
experiment-between-restored = `between` ни на что не влияет: данные восстанавливаются перед каждым измерением
    .help = добавьте `keep: true` или перенесите команды в `after`
experiment-keep-alone = `keep` нельзя сочетать с `matrix`, `find` и `faults`: измерение получило бы данные, которые изменила другая ячейка или другой шаг
    .help = удалите `keep` или другой ключ; чтобы сравнить две системы на таких данных, напишите по эксперименту на каждую и сравните прогоны
experiment-dataset-server = { $is_template ->
    [true] для `template` нужен сервер PostgreSQL, а стенд кончается узлом `{ $node }`: через него базу данных не скопировать
   *[false] для `dataset` нужен сервер PostgreSQL, а стенд кончается узлом `{ $node }`: через него данные не восстановить
 }
    .help = добавьте в `stack` ключ {"`postgres: { attach: \"host=db.example user=me dbname=measured\" }`"} или удалите `dataset`
experiment-dataset-seed = `seed` вместе с `{ $key }` ни на что не влияет
    .help = удалите этот ключ{ $key ->
        [from] {" "}или возьмите выборку, например `from: {"{"} source: …, sample: 10% {"}"}`
       *[other] ; начальное значение для нагрузки задаёт ключ `seed` самого файла
    }
experiment-source-itself = `from` — это измеряемая база данных { $address }, которую измерение заменило бы
    .help = укажите в `stack.postgres.attach` другую базу данных, например dbname=measured
experiment-template-own-server = для `template` нужен подключённый сервер; у сервера, который запускает pgdyno, нет базы данных { $name }
    .help = добавьте `attach` в `stack.postgres` или укажите дамп этой базы в `restore`
experiment-template-itself = `template` — это измеряемая база данных, которая удаляется перед каждым измерением
    .help = укажите в `stack.postgres.attach` другую базу данных, например dbname=measured
experiment-speed-recorded = `speed` действует только для записанных моментов времени
    .help = удалите его или напишите `schedule: recorded`
experiment-template-name = имя базы данных занимает от 1 до 63 байт
    .help = укажите имя базы данных подключённого сервера, например `shop_golden`
experiment-dataset-key = `{ $key }` действует только для набора данных { $datasets }
    .help = удалите этот ключ
experiment-dataset-unnamed = для `{ $key }` нужно имя набора данных
    .help = добавьте `name: { $example }`
experiment-dataset-scale = значение `scale` вне допустимых границ: { $value }
    .help = напишите целое число от 1 до { $max }
experiment-tables-empty = раздел `tables` пуст
    .help = добавьте таблицу или удалите `tables`
experiment-table-name = недопустимое имя таблицы: { $name }
    .help = напишите `table` или `schema.table`: буквы, цифры и _
experiment-column-name = недопустимое имя столбца: { $name }
    .help = используйте буквы, цифры и _
experiment-columns-empty = в таблице нет столбцов
    .help = добавьте столбец, например `id: serial`
experiment-unknown-column = в таблице нет столбца { $column }
    .help = { $nearest ->
        [none] напишите имя столбца этой таблицы
       *[other] напишите `{ $nearest }`
    }
experiment-timestamp = неверный момент времени: { $text }
    .help = напишите, например, 2024-01-01 или 2024-01-01 12:00:00
experiment-one-of-empty = список `one_of` пуст
    .help = добавьте значения, например `[a, b]`
experiment-range-order = нижняя граница больше верхней
    .help = поменяйте границы местами

# Реплики и сбои.
experiment-replicas-transport = репликации нужен TCP, но `postgres.transport` выбирает другой транспорт
    .help = напишите `tcp` или удалите `transport`
experiment-replicas-attached = у подключённого PostgreSQL не может быть `replicas`
    .help = удалите их: pgdyno не настраивает подключённые системы
experiment-sync = неверный режим синхронной репликации: { $text }
    .help = напишите `async`, `first 1` или `any 1`
experiment-sync-count = фиксация ждёт { $sync } реплик, но их только { $count }
    .help = напишите не больше { $count }
experiment-manager-key = `{ $key }` не действует при `manager: { $manager }`
    .help = удалите этот ключ или напишите `manager: pgdyno`
experiment-manager-unused = для `{ $manager }` нужен `manager: { $manager }`
    .help = добавьте `manager: { $manager }` или удалите этот раздел
experiment-manager-ttl = слишком малый `ttl` для { $product }: { $value }
    .help = напишите не меньше { $min }
experiment-manager-timeouts = `loop_wait` + 2 × `retry_timeout` больше, чем `ttl`
    .help = напишите, например, `ttl: 20s`, `loop_wait: 5s`, `retry_timeout: 5s`
experiment-store-servers = недопустимое число серверов `{ $key }`: { $value }
    .help = напишите { $counts }
experiment-fault-action = { $count ->
    [0] у сбоя нет действия
   *[other] действий у сбоя — { $count }
 }
    .help = напишите одно действие, например {"`{ at: 20s, kill: primary }`"}
experiment-fault-time = у сбоя нет времени
    .help = добавьте `at: 20s` или `after: promoted`
experiment-fault-duration-missing = для `{ $action }` нужна длительность
    .help = добавьте длительность, например `duration: 5s`
experiment-fault-duration = `duration` не действует для `{ $action }`
    .help = удалите `duration`
experiment-fault-from = `from` действует только для `isolate`, а не для `{ $action }`
    .help = удалите `from`
experiment-fault-from-empty = в `from` не указан ни один узел
experiment-fault-by = `by` действует только для `shift_clock`, а не для `{ $action }`
experiment-fault-by-missing = для `shift_clock` нужен сдвиг, например `by: +2m` или `by: -90s`
experiment-offset = { $text } — не сдвиг: напишите, например, `+2m` или `-90s`, но не 0
    .help = укажите серверы или etcd, например `from: [etcd, postgres-2]`
experiment-fault-part = `part` действует только для `kill`, а не для `{ $action }`
    .help = удалите `part`
experiment-fault-replicas = для `{ $action }` нужны реплики
    .help = добавьте в стек {"`replicas: { count: 2 }`"}
experiment-fault-external-key = `{ $key }` применимо только к сбою с { $key ->
    [undo] `run`
   *[other] `run` или `external`
 }
    .help = удалите `{ $key }`
experiment-fault-external-time = для `{ $action }` нужно время: pgdyno не вносит сбоев в эту систему
    .help = напишите `at: 10s` вместо `after`
experiment-servers-attached = `servers` применимо только к подключённому кластеру
    .help = добавьте `attach` или удалите `servers`
experiment-fault-block-replication = `block_replication` не действует для { $target }
    .help = напишите `block_replication: primary`
experiment-fault-server = `{ $key }` действует только для серверов PostgreSQL, а не для { $target }
    .help = напишите `primary`, `replica` или сервер PostgreSQL, например `postgres-2`
experiment-fault-switchover = `primary` уже основной сервер
    .help = напишите `any`, `replica` или сервер PostgreSQL, например `postgres-2`
experiment-fault-manager = для `part: { $manager }` нужен `manager: { $manager }`
    .help = удалите `part` или напишите `part: postmaster`
experiment-fault-target = неизвестный узел { $target }
    .help = { $targets ->
        [none] удалите сбой: в этом стеке нет узлов, которые запускает pgdyno
       *[other] напишите { $targets }
    }
experiment-fault-too-late = сбой (в { $at }) наступает после конца нагрузки ({ $load })
    .help = перенесите его на более раннее время или увеличьте длительность нагрузки

# Отказы и журналы записей.
experiment-failover-replicas = для `find: failover` нужны реплики
    .help = добавьте {"`replicas: { count: 2, sync: any 1 }`"} рядом с `postgres`, который запускает pgdyno
experiment-failover-ledger = для `find: failover` нужна операция с `ledger`, чтобы обнаружить потерянные записи
    .help = добавьте `ledger: SELECT token FROM …` операции, которая записывает `:token` или {"`${token}`"}
experiment-failover-faults = для `find: failover` нужны сбои
    .help = добавьте {"`faults: [{ at: 20s, kill: primary }]`"}
experiment-control-primary = ни один сбой не выводит из строя основной сервер, поэтому положительный контроль не может потерять записи
    .help = добавьте {"`{ at: 20s, kill: primary }`"} или напишите `control: false`
experiment-control-after = для положительного контроля нужно знать, когда начнётся этот сбой: репликация блокируется перед ним
    .help = напишите `at` без `after` или `control: false`
experiment-control-early = положительный контроль блокирует репликацию за `500ms` до этого сбоя
    .help = напишите `at: 500ms` или позже либо `control: false`
experiment-invariant-ledger = для `invariants` нужна операция с `ledger`
    .help = добавьте `ledger: SELECT token FROM …` операции, которая записывает `:token`
experiment-invariant-command = в этом инварианте есть метакоманда pgbench
    .help = напишите один запрос, например `SELECT sum(balance) FROM accounts`
experiment-invariant-query = в этом инварианте { $count ->
    [0] нет запроса
   *[other] несколько операторов: { $count }
 }
    .help = напишите один запрос, например `SELECT sum(balance) FROM accounts`
experiment-ledger-command = в `ledger` есть метакоманда pgbench
    .help = напишите один запрос с одним столбцом, например `SELECT token FROM payments`
experiment-ledger-query = в `ledger` { $count ->
    [0] нет запроса
   *[other] несколько операторов: { $count }
 }
    .help = напишите один запрос с одним столбцом, например `SELECT token FROM payments`
experiment-ledger-ammo = `ledger` нельзя сочетать с `ammo`: запросы ленты не могут содержать токен
    .help = удалите этот ключ или напишите запросы здесь, с {"`${token}`"}
experiment-ledger-database = в стеке нет PostgreSQL, из которого можно прочитать записи
    .help = добавьте в стек {"`postgres: { … }`"} или удалите `ledger`
experiment-ledger-token = у { $operation } есть `ledger`, но операция не записывает токен
    .help = записывайте `{ $token }` в столбец, который читает запрос `ledger`
experiment-ledger-commit-setting = { $operation } сама задаёт `synchronous_commit`, поэтому неизвестно, что сервер обещает для каждой записи
    .help = задайте его в `postgres.settings`, через ALTER ROLE … SET или ALTER DATABASE … SET
experiment-ledger-token-twice = { $operation } пишет свой токен в несколько строк ({ $rows }), и журнал записей счёл бы их повторами
    .help = пишите каждый токен в одну строку одной таблицы
experiment-ledger-update = { $operation } перезаписывает токены ({ $statement }), и журнал записей счёл бы их потерянными
    .help = добавляйте для каждого токена новую строку, например {"`INSERT INTO payments (token) VALUES (:token)`"}
experiment-ledger-delete = { $operation } удаляет строки из { $table }, и журнал записей счёл бы их токены потерянными
    .help = оставьте эти строки или пишите токены в другую таблицу
experiment-ledger-second-token = переменная `token` зарезервирована для `ledger`
    .help = переименуйте эту переменную

# Предупреждения.
experiment-feed-unused = лента данных { $feed } не используется ни одной операцией
experiment-capture-unused = переменная { $variable }, которую извлекает { $operation }, не используется
experiment-remote-stop-rule = на другой машине по умолчанию действует правило остановки { $rule }
experiment-cold-attached = `cache: cold` не действует: подключённый сервер pgdyno не перезапускает


### Ошибки стенда и его узлов

# Глаголы в `attempt-…` — инфинитивы: «pooler: не удалось запустить: …».
error-text = { $text }
error-quoted = «{ $text }»
error-not-regular-file = { $kind ->
    [fifo] это FIFO; укажите обычный файл
    [character-device] это символьное устройство; укажите обычный файл
    [block-device] это блочное устройство; укажите обычный файл
   *[other] это не обычный файл
 }
dump-no-toc = в каталоге нет `toc.dat`, поэтому это не дамп
probe-page-status = ответ на GET { $path } имеет статус { $status }
error-and = { $first }; { $next }
attempt-start = запустить
attempt-run = выполнить
attempt-become-ready = дождаться готовности
attempt-watch = отслеживать процесс
attempt-stop = остановить
attempt-limit = ограничить
attempt-get-disk = выделить диск
attempt-get-clock = выделить часы
attempt-get-password = создать пароль
attempt-get-port = получить порт
attempt-get-network = получить сеть
attempt-end-sessions = завершить сеансы
attempt-find = найти
attempt-copy-data = скопировать данные
attempt-become-standby = перевести в режим резервного сервера
attempt-write-password-file = записать файл пароля
attempt-configure = настроить
attempt-replace-primary = назначить другой ведущий сервер
attempt-become-primary = сделать ведущим сервером
attempt-hand-over = передать роль ведущего сервера
attempt-rejoin = вернуть в кластер
attempt-promote = повысить до ведущего
attempt-create-replication-user = создать пользователя репликации
attempt-write = записать файл
attempt-report-health = запустить проверку состояния
attempt-report-replicas = получить состояние реплик
attempt-create-database = создать базу данных приложения
attempt-describe = составить настройки запуска
attempt-report-server = узнать, к какому серверу ведёт узел
attempt-replace = заменить
attempt-create = создать
attempt-report-identity = определить сервер
attempt-check = проверить
attempt-reach = подключиться
attempt-use-transport = подключиться указанным способом
attempt-kill = завершить принудительно
attempt-create-certificate = создать сертификат
attempt-reconnect = восстановить подключение к сети
attempt-disconnect = отключить от сети
attempt-freeze-disk = заморозить диск
attempt-thaw-disk = разморозить диск
attempt-shift-clock = сдвинуть часы
attempt-fill-disk = заполнить диск
attempt-free-disk = освободить диск
attempt-signal-process = послать { $signal } процессу { $process }
attempt-signal = послать { $signal }
attempt-get = получить ответ на GET { $path }
attempt-release = вывести из-под управления { $manager }
node-error = { $node }: не удалось { $attempt }: { $reason }{ $log ->
    [none] {""}
   *[other] {"\u000A"}последние строки журнала:{"\u000A"}{ $log }
}
node-keeper-answered = процесс `pgdyno keeper` ответил «{ $answer }»
node-ended = процесс { $end }{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
node-exited = завершился с кодом { $status }
node-signalled = был завершён сигналом { $signal }
node-disk-full = диск узла заполнен («{ $line }»)
node-fatal-error = последняя ошибка в его журнале: { $line }
node-no-exit = процесс не завершился за { $seconds }{"\u00A0"}с
node-interrupted = прогон прерван
node-not-ready = узел не был готов через { $seconds }{"\u00A0"}с; последний ответ: { $answer }
node-no-end = процесс `pgdyno keeper` не сообщил о завершении узла
node-out-of-memory = { $reason }; узел достиг ограничения памяти, и ядро завершило его процессы: { $count }
error-of = { $subject }: { $error }
keeper-no-program = программа `{ $program }` не установлена; установите пакет { $package }
keeper-command-failed = `{ $command }` завершилась с ошибкой: «{ $output }»
keeper-no-directory = у процесса `pgdyno keeper` нет рабочего каталога
keeper-node-ended = процесс завершился
keeper-no-network = у узла нет отдельной сети
keeper-no-disk = у узла нет отдельного диска
keeper-disk-frozen = диск узла заморожен
node-no-clock = у узла нет отдельных часов
node-no-faketime = библиотека libfaketime не установлена; в Debian и Ubuntu установите пакет libfaketime
keeper-empty-command = команда пуста
keeper-ended-at-once = процесс завершился сразу после запуска: { $error }
keeper-invalid-order = процесс `pgdyno keeper` не может прочитать указание: «{ $error }»
keeper-ended = процесс `pgdyno keeper` завершился: { $error }
machine-no-user = pgdyno запущен от имени root и не находит пользователя для запуска серверов; создайте пользователя `postgres` или `nobody`
machine-no-scratch = пользователь, запускающий серверы, не может писать ни в один из каталогов { $tried }; задайте TMPDIR
machine-no-cache = каталог кэша неизвестен; задайте `XDG_CACHE_HOME` или `HOME`
client-no-answer = нет ответа вовремя
client-closed = сервер закрыл соединение
client-protocol = ошибка протокола: «{ $error }»
client-answer-too-long = { $address }: ответ длиннее { $mebibytes }{"\u00A0"}МиБ
client-stopped = остановлено сигналом
read-back-failed = `{ $query }`: { $error }
read-back-several-columns = запрос должен возвращать один столбец, а возвращает несколько
capture-setting-timeout = сервер не применяет `log_min_duration_statement`
capture-log-timeout = сервер не записывает перехваченные команды в журнал
restore-no-database = база данных { $database } не существует
restore-foreign-database = базу данных { $database } создал не pgdyno, и он её не удаляет; выберите другую базу данных
restore-unmarked-database = базу данных { $database } создал не pgdyno, и он её не удаляет; если она пуста и pgdyno может создать её заново, выполните:  `COMMENT ON DATABASE { $identifier } IS '{ $comment }'`
restore-foreign-table = база данных { $database } содержит таблицу { $table }, которую создал не pgdyno, и не удаляется; выберите пустую базу данных
restore-in-use = базу данных { $database } используют другие сеансы; завершите их или выберите другую базу данных:{"\u000A"}  { $sessions }
source-unreadable = исходную базу данных из `dataset.from` скопировать нельзя: { $error }
source-newer = там PostgreSQL { $source }, а измеряемый сервер имеет версию { $measured }; измеряйте версию { $source } или новее
source-several-hosts = в адресе несколько узлов; укажите один
source-is-measured = `dataset.from` и есть измеряемая база данных { $database }; укажите в `attach` другую базу данных
restore-no-template = на этом сервере нет шаблона { $template }; укажите имя существующей базы данных
restore-same-template = шаблон { $template } и есть измеряемая база данных; укажите в `attach` другую базу данных
restore-template-in-use = шаблон { $template } используют сеансы, поэтому скопировать его нельзя; ничего не удалено; завершите их:{"\u000A"}  { $sessions }
restore-no-createdb = пользователь { $user } не может создавать базы данных; от имени суперпользователя выполните:  `ALTER ROLE { $identifier } CREATEDB`
restore-template-forbidden = пользователь { $user } не может копировать шаблон { $template }, который принадлежит { $owner }; от имени владельца выполните:  `ALTER DATABASE { $identifier } WITH IS_TEMPLATE true`
dataset-foreign-table = таблица { $table } существует, и создал её не pgdyno; выберите другую базу данных или удалите таблицу
dataset-stopped = загрузка остановлена
dump-changed = { $path } изменился после того, как прогон был спланирован; запустите `pgdyno run` с файлом эксперимента заново
dump-program = чтобы восстановить дамп, нужна программа { $program }, а она не установлена; в Debian: `apt-get install { $package }`
dump-extensions = { $path } создаёт { $count ->
    [one] расширение
   *[other] расширения
 } { $extensions }, которых нет у сервера; в Debian: `apt-get install { $package }`
dump-other-database = { $path }:{ $line }: `\connect` выбирает другую базу; сделайте дамп одной базы программой `pg_dump` без `--create`
dump-not-empty = в базе { $database } есть { $table } не из этого дампа; укажите пустую базу
dump-no-table = дамп не создаёт ни одной таблицы
dataset-table = таблица { $table }{ $column ->
    [none] {""}
   *[other] , столбец { $column }
}: { $message }
dataset-table-no-name = у таблицы нет имени; задайте его, например `shop.goods`
dataset-reserved-schema = схема pgdyno зарезервирована; укажите другую
dataset-no-columns = у таблицы нет столбцов; задайте хотя бы один
dataset-column-no-name = у столбца нет имени; задайте его
dataset-column-twice = столбец объявлен дважды; укажите другое имя
dataset-key-no-column = указан в первичном ключе, но такого столбца нет; укажите один из столбцов
dataset-key-nulls = входит в первичный ключ, но часть значений — NULL; напишите `nulls: 0`
dataset-null-share = доля NULL равна { $share }; укажите число от 0 до 1
dataset-exponent = показатель `s` равен { $exponent }; укажите число больше 1 и не больше 1000, например 1.2
dataset-large-range = диапазон содержит больше 2^53 чисел; укажите меньший
dataset-empty-range = конец диапазона меньше начала: { $min } > { $max }; укажите меньшую границу первой
dataset-timestamp = «{ $text }» — не метка времени; укажите дату как 2024-01-01 или время как 2024-01-01 12:00:00
dataset-corner = координата прямоугольника не является конечным числом; укажите числа
dataset-no-value = список значений пуст; укажите хотя бы одно
dataset-field = поле { $name }: { $error }
server-no-program = не содержит `{ $name }`
server-no-version = `postgres --version` завершается с ошибкой
server-unknown-version = `postgres --version` выводит «{ $line }»
server-other-version = содержит { $version }
origin-flag = указанный каталог
origin-debian = пакеты Debian
origin-red-hat = пакеты Red Hat
origin-embedded = загруженный
server-rejected =   { $origin }: { $place } { $reason }
error-lines = { $first }{"\u000A"}{ $next }
server-places =   проверены каталог, который выводит `pg_config`, PATH и каталоги Debian, Red Hat, Homebrew и Postgres.app
server-not-found = на этой машине не найден сервер PostgreSQL{ $major ->
    [none] {""}
   *[other] {" "}{ $major }
}{"\u000A"}{ $rejected }{"\u000A"}установите его: `{ $install }`{"\u000A"}или укажите его каталог: `PGDYNO_PG_BIN=/path/to/bin`
download-versions = загрузить можно только PostgreSQL с { $first } по { $last }
download-no-source = в кэше его нет, а { $mirror } не задана; задайте в ней адрес репозитория Maven или в { $archive } файл архива
download-architecture = архива для { $architecture } нет
download-checksum = у { $address } контрольная сумма SHA-256 { $found } вместо { $expected }; выберите другое зеркало
archive-unknown-format = это не JAR и не файл tar, сжатый xz или gzip
archive-no-tar-file = в JAR нет файла `.txz`
download-failed = не удалось загрузить PostgreSQL { $major }: { $reason }{ $install ->
    [none] {""}
   *[other] {"\u000A"}чтобы установить его: `{ $install }`
}
error-unusable = { $place } { $reason }
program-not-found = на этой машине не найден { $name }{ $oldest ->
    [none] {""}
   *[other] {" "}{ $oldest } или новее
}{ $tried ->
    [none] {""}
   *[other] : { $tried }
}
program-no-postgres = на этой машине не найден PostgreSQL{ $major ->
    [none] {""}
   *[other] {" "}{ $major }
}{ $download ->
    [none] {""}
   *[other] , и загрузить его не удалось: { $download }
}
program-not-run = не запускается: { $error }
program-no-version = на { $argument } выводит «{ $line }»
program-unavailable = { $reason }{"\u000A"}чтобы установить: { $install }
invalid-node-no-upstream = за узлом нет другого узла; добавьте его
invalid-node-no-certificate = узел использует TLS, но у стенда нет сертификата
invalid-node-too-old = { $product } { $version } не поддерживается; установите { $product } { $oldest } или новее
invalid-node-setting = для `{ $setting }` нужен { $product } { $since } или новее
invalid-node-mode = у { $product } нет режима { $mode }; выберите другой `mode`
invalid-node-transport = { $reason }; напишите { $allowed }{ $node ->
    [none] {""}
   *[other] {" "}для { $node }
}
invalid-node-socket-directories = у { $product } один каталог для сокетов, а { $upstream } использует другой; напишите `transport: tcp` для одного из них
invalid-node-no-check = балансировщик нескольких серверов должен проверять, какой из них ведущий; задайте `check`
invalid-node-path = { $product } не может запрашивать путь «{ $path }»; укажите путь без пробелов, кавычек, `\` и `#`
invalid-node-no-value = у { $variable } нет значения в этом стенде
invalid-node-variable = переменную окружения { $name } задаёт сам pgdyno; уберите её из `env`
haproxy-behind-without-tls = HAProxy пропускает TLS насквозь, а { $node } его не использует
haproxy-behind-with-tls = HAProxy пропускает TLS насквозь, а { $node } его требует
haproxy-listens-by-tcp = балансировщик нескольких серверов принимает соединения по TCP
haproxy-connects-by-tcp = балансировщик подключается к нескольким серверам по TCP
haproxy-http-without-tls = балансировщик сервисов принимает HTTP без TLS
service-listens-by-tcp = сервис принимает соединения по TCP
service-connects-by-tcp = сервис подключается к своей базе данных по TCP
haproxy-no-version = HAProxy не сообщает свою версию
haproxy-roles = HAProxy видит ведущих серверов: { $primaries }, реплик: { $replicas }, всего серверов: { $servers }
patroni-answer = Patroni отвечает { $status }{ $text ->
    [none] {""}
   *[other] : «{ $text }»
}
node-sessions-left = осталось сеансов: { $sessions }
node-not-started = pgdyno не запускал узел с таким именем
node-too-few-replicas = отвечает реплик: { $answers }, а нужно: { $needed }
node-no-replica = реплики с таким именем нет
node-no-other-server = кроме ведущего, сервера с таким именем нет
node-in-recovery = сервер находится в режиме восстановления
node-manager-decides = какую реплику повысить, решает сам { $manager }
node-without-replicas = у сервера нет реплик
node-replicas-follow = подключено реплик: { $streaming } из { $followers }, подтверждают: { $confirming }
node-no-network = все адреса 198.18.0.0/16 заняты
node-upstream-http = узел отправляет SQL, а { $upstream } за ним принимает запросы HTTP
node-no-verification = узел не может проверить сертификат подключённого узла; напишите `sslmode=require` в строке подключения
node-answers = узел отвечает на GET { $path } кодом { $status }
node-standbys-recorded = { $manager } записал синхронных реплик: { $recorded } из { $required }
node-no-manager = узлом не управляет менеджер кластера
node-no-server-runs = ни один сервер не работает
node-no-writable = ни один другой сервер не принимает запись
node-no-postgres = в стенде нет сервера PostgreSQL
node-other-transport = по плану нужен { $planned }, а соединение использует { $actual }
node-no-process = у узла нет такого процесса
node-missing = его нет в стенде
node-missing-server = в стенде нет такого сервера
node-not-running = он не работает
node-no-connection = { $address } не принимает соединений: { $error }
node-starting = программа только что запущена
node-get-answered = на GET { $path } получен ответ с кодом { $status }
attach-login-timeout = { $address }: сервер не ответил на вход за { $seconds }{"\u00A0"}с (меняется параметром `connect_timeout` в адресе)
attach-no-database = { $error }; выполните в другой базе данных:  `CREATE DATABASE { $database }`
dsn-password = строка подключения содержит пароль; задайте `PGPASSWORD` или используйте файл паролей
dsn-not-utf8 = переменная окружения { $name } не в UTF-8
# Ошибки в строках подключения: где, что там найдено и что написать вместо этого. То, о чём сообщает и libpq, названо
# словами её русского перевода.
conninfo-character = строка подключения, символ { $position }
conninfo-option = параметр { $name }
conninfo-variable = переменная окружения { $name }
conninfo-service-line = файл определений служб { $file }, строка { $line }
conninfo-database-name = имя базы данных
conninfo-unknown-scheme = неизвестный вид URI
conninfo-missing-equals = в строке подключения нет «=» после «{ $name }»
conninfo-unterminated = в строке подключения не хватает закрывающей кавычки
conninfo-text-after-password = текст после пароля — не параметр подключения
conninfo-unknown-option = { $name ->
    [none] это не параметр подключения
   *[other] неверный параметр подключения «{ $name }»
}
conninfo-nul = нулевой байт в значении { $name }
conninfo-unsupported = { $name }={ $value } не поддерживается
conninfo-invalid-value = неверное значение { $name }: «{ $value }»
conninfo-invalid-integer = неверное целочисленное значение «{ $value }» для параметра подключения «{ $name }»
conninfo-invalid-port = неверный номер порта: «{ $port }»
conninfo-invalid-address = не удалось разобрать сетевой адрес «{ $address }»
conninfo-host-count = не удалось сопоставить имена узлов ({ $names }) со значениями `hostaddr` ({ $addresses })
conninfo-port-count = не удалось сопоставить номера портов ({ $ports }) с узлами ({ $hosts })
conninfo-no-user = имя пользователя неизвестно
conninfo-weak-sslmode = слабый режим `sslmode` нельзя использовать с `sslrootcert=system`
conninfo-mixed-methods = методы с отрицанием нельзя смешивать с методами без отрицания
conninfo-method-twice = метод «{ $method }» указан больше одного раза
conninfo-unusable-file = файл «{ $path }» не существует, или его нельзя использовать
conninfo-at-after-slash = символ @ после первого /
conninfo-second-at = второй символ @ перед именем узла
conninfo-missing-bracket = в URI нет символа «]» после адреса IPv6
conninfo-empty-address = в URI не может быть пустого адреса IPv6
conninfo-unexpected-character = неожиданный символ { $character } в URI (ожидалось «:» или «/»)
conninfo-missing-separator = нет разделителя ключа и значения «=» в параметре запроса URI
conninfo-extra-separator = лишний разделитель ключа и значения «=» в параметре запроса URI
conninfo-invalid-token = неверный символ, закодированный с %{ $token ->
    [none] {""}
   *[other] : { $token }
}
conninfo-encoded-nul = недопустимое значение `%00` для символа, закодированного с %
conninfo-encoded-not-utf8 = закодированные с % байты не в UTF-8
conninfo-no-service = определение службы «{ $service }» не найдено
conninfo-no-service-file = файл определений служб «{ $path }» не найден
conninfo-service-syntax = ошибка синтаксиса в файле определений служб
conninfo-nested-service = вложенные определения служб не поддерживаются
conninfo-blank-before-equals = пробел перед «=»
conninfo-ldap = адрес LDAP
conninfo-write-scheme = начните с `postgresql://`
conninfo-write-keyword-value = напишите `параметр=значение`
conninfo-write-quoted = напишите `параметр=значение`; значение с пробелами заключите в кавычки '…'
conninfo-write-without-blanks = напишите `параметр=значение` без пробелов
conninfo-close-quote = закройте её знаком '; сам знак ' пишите как \'
conninfo-quote-password = пароль с пробелами заключите в кавычки '…'
conninfo-similar-option = возможно, имелся в виду { $name }
conninfo-option-list = параметры перечислены в документации PostgreSQL, раздел «Ключевые слова-параметры»
conninfo-leave-out = уберите это
# Что pgdyno делает вместо того, что запрашивает параметр.
conninfo-write-fixed = { $name ->
    [sslnegotiation] TLS всегда начинается с `SSLRequest`: напишите `postgres`
    [sslcompression] TLS никогда не сжимается: напишите `0`
    [sslpassword] зашифрованные ключи не поддерживаются: расшифруйте ключ командой `openssl pkey` и уберите этот параметр
    [sslcrl] списки отзыва не читаются: уберите этот параметр
    [sslcrldir] списки отзыва не читаются: уберите этот параметр
    [sslsni] имя сервера передаётся всегда: напишите `1`
    [requirepeer] владелец сокета сервера не проверяется: уберите этот параметр
    [gssencmode] GSSAPI не поддерживается: напишите `disable`
    [replication] репликация не поддерживается: уберите этот параметр
   *[other] уберите этот параметр
}
conninfo-write-one-of = укажите одно из значений: { $values }
conninfo-write-some-of = укажите что-либо из списка: { $values }
conninfo-write-integer = укажите целое число
conninfo-write-port = укажите число от 1 до 65535
conninfo-write-ports = укажите один порт для всех узлов или по одному для каждого
conninfo-write-address = укажите здесь IP-адрес, а имя — в `host`
conninfo-write-equal-counts = укажите поровну тех и других
conninfo-write-user = напишите `user=ИМЯ`
conninfo-write-verify-full = напишите `verify-full`
conninfo-write-tls-version = напишите `TLSv1.2` или `TLSv1.3`
conninfo-write-sslrootcert = напишите `sslrootcert=ФАЙЛ` с сертификатами, которыми может быть подписан сертификат сервера, или `sslmode=require`
conninfo-write-once = укажите его один раз
conninfo-negate-all = поставьте ! перед всеми методами или уберите у всех
conninfo-readable-file = укажите файл, доступный для чтения
conninfo-private-key = укажите ключ, который можете читать только вы (`chmod 600`)
conninfo-pem-file = укажите файл в формате PEM
conninfo-both-or-none = укажите оба файла или ни одного
conninfo-matching-key = укажите незашифрованный ключ, относящийся к `sslcert`
conninfo-encode-slash = в имени пользователя и пароле пишите / как `%2F`, а @ как `%40`
conninfo-encode-at = в имени пользователя и пароле пишите @ как `%40`
conninfo-encode-ampersand = в пароле пишите & как `%26`
conninfo-encode-equals = в значении пишите = как `%3D`
conninfo-encode-percent = после % напишите две шестнадцатеричные цифры; сам % пишите как `%25`
conninfo-encode-utf8 = закодируйте их в UTF-8
conninfo-close-bracket = закончите адрес знаком ]
conninfo-write-brackets = напишите его между [ и ]
conninfo-write-port-database = порт пишите после :, базу данных — после /
conninfo-write-section = добавьте раздел [{ $service }] в один из файлов: { $files }
conninfo-write-settings = впишите сюда параметры той службы
conninfo-no-ldap = впишите сами параметры: LDAP не поддерживается
tls-missing-roots = `sslmode` требует проверки сертификата сервера, но `sslrootcert` не задан
tls-incomplete-identity = для клиентского сертификата нужны и `sslcert`, и `sslkey`; не задан `{ $missing }`
tls-unusable-key = клиентский сертификат нельзя использовать: { $reason }
tls-other-key = клиентский сертификат нельзя использовать: `sslcert` — сертификат не того ключа, что в `sslkey`
tls-version-range = `ssl_min_protocol_version` больше `ssl_max_protocol_version`
guard-other-run = с { $target } уже работает другой pgdyno ({ $run }), и каждый измерял бы нагрузку другого; дождитесь его завершения
guard-no-permission = { $target } не разрешает нагрузку; чтобы разрешить её, выполните там:  `CREATE SCHEMA { $schema }`
guard-active-sessions = чужие активные сеансы в { $target }: { $active }{ $hidden ->
    [0] {""}
   *[other] {""}, из них видны только членам `pg_read_all_stats`: { $hidden }
}; завершите их и подождите 10{"\u00A0"}с или напишите `caps: {"{"} other_sessions: { $active } {"}"}`
guard-service-no-permission = { $target } не разрешает нагрузку: на GET { $page } получен код { $status }; чтобы разрешить её, отвечайте на этот запрос телом `allowed` или на { $ready } — с заголовком `Pgdyno: allowed`
guard-not-allowed = { $target } { $location }; если это ваша система и её можно нагружать, добавьте `allow: "{ $target }"` рядом с её адресом
location-this-machine = находится на этой машине
location-other-machine = находится на другой машине
location-unproven = не подтверждено, что находится на этой машине: { $reason }
path-other-server = `stack.{ $name }.attach` ({ $place }) ведёт к: { $reached }, а `stack.{ $server }.attach` ({ $expected_place }) — это { $expected }: { $difference }. Укажите адрес сервера за { $name } в `stack.{ $server }.attach` или уберите { $server }
path-two-of-one-system = это два сервера одной системы, например ведущий и его реплика
path-two-servers = это два разных сервера
path-two-databases = это две базы данных одного сервера
path-identity = база данных «{ $database }» сервера по адресу { $address } ({ $system ->
    [none] {""}
   *[other] идентификатор системы { $system },{" "}
}запущен { $started } UTC)
limits-no-controller = контроллер cgroup `{ $name }` недоступен
limits-no-disk = данные находятся на { $kind }, а это не диск, который можно ограничить
limits-cpus-only = узел может работать только на ЦП { $cpus }
plan-several-statements = запрос состоит из нескольких команд
plan-unreadable = план запроса не удалось прочитать
plan-attached = сервер подключён, поэтому pgdyno ничего на нём не создаёт; запросы на запись не планировались, поэтому неизвестно, каким из них пришлось бы обновлять индекс
plan-no-hypopg = на этом сервере не установлено расширение HypoPG
attach-several-hosts = в адресе несколько узлов, но не сказано, какой из них нужен; добавьте `target_session_attrs=read-write`
attach-in-recovery = { $address } в режиме восстановления
attach-no-address = по его адресу нет ни одного хоста
install-package = `./x setup` или `apt-get install { $package }`
install-odyssey = `./x setup` распаковывает его в Debian; в других системах соберите его и укажите: `PGDYNO_ODYSSEY=/path/to/odyssey`
install-service = соберите его; `./x services` собирает сервисы pgdyno или сообщает, чего не хватает
service-without-command = у сервиса нет ни `command`, ни `url`
service-no-program = программа { $program } не существует
hook-failed = ошибка команды `{ $hook }`: { $reason }
service-no-file = файл { $file } не существует
service-unreadable = pgdyno запущен от имени root и запускает сервисы от имени пользователя { $user }, который не может читать { $path }
service-unreadable-remedy = перенесите эксперимент и его программы в каталог, доступный для чтения всем
limits-no-cpu = ЦП { $number } нет; ЦП этой машины: { $online }
location-no-process-error = сервер не сообщает свой процесс ({ $error })
location-no-process = сервер не сообщает свой процесс
location-other-process = его адрес — { $address }, а процесса { $pid } на этой машине нет
location-forwarder = там принимает соединения { $program }, и он может переправлять их на другую машину
listener-found = его ЦП и память — это ЦП и память программы { $program }, которая принимает соединения на { $address }, и её дочерних процессов. pgdyno нашёл программу по этому адресу
listener-other-program = на { $address } принимает соединения программа { $program }. Это не программа этого узла, поэтому его ЦП и память неизвестны. Графики показывают ЦП и память { $program } под именем «{ $name }»
listener-none = на { $address } этой машины вне контейнеров никто не принимает соединений, поэтому ЦП и память узла неизвестны
listener-hidden = этому пользователю нельзя читать сведения о программе, которая принимает соединения на { $address }, поэтому ЦП и память узла неизвестны. Запустите pgdyno от имени её пользователя или суперпользователя
dataset-no-table = не объявлено ни одной таблицы; объявите хотя бы одну
dataset-table-twice = таблица объявлена дважды; укажите другое имя
probe-page = { $page }: { $reason }
probe-page-long = страница больше { $most } МБ
probe-same-host = показатели этого хоста уже снимаются под именем { $other }; укажите один URL для всех узлов на этом хосте, а для этой машины — ни одного
probe-many-values = у { $name } больше { $most } сочетаний меток; сохраняются только первые { $most }
probe-no-metrics = на странице не было метрик: { $names }
probe-unreadable = { $line ->
    [none] в ответе
   *[other] в строке { $line } ответа
} нет «{ $expected }»


### Неудачные измерения: failure-

failure-nothing-succeeded = ни одна транзакция не выполнена успешно{ $reason ->
    [none] {""}
   *[other] : «{ $reason }»
}
    .requests = ни один запрос не выполнен успешно{ $reason ->
        [none] {""}
       *[other] : «{ $reason }»
    }
failure-clients-aborted = прервано клиентов: { $aborted } из { $clients }, так как их сценарий не мог продолжаться{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
failure-operation = операция { $operation }: { $reason }
failure-operation-never-succeeded = { $arrivals ->
    [one] не удалась ни одна из { $arrivals } транзакции
   *[other] не удалась ни одна из { $arrivals } транзакций
}{ $reason ->
    [none] {""}
   *[other] : «{ $reason }»
}
    .requests = { $arrivals ->
        [one] не удался ни один из { $arrivals } запроса
       *[other] не удался ни один из { $arrivals } запросов
    }{ $reason ->
        [none] {""}
       *[other] : «{ $reason }»
    }
failure-stop-rule = { $rule } на секунде { $second }
failure-blind-rule = ни разу не имело значения
failure-on-start = клиенты повторяли эти запросы после ошибки; первая ошибка: { $reason }
failure-disk-full = диск с файлом прогона заполнен
failure-disk-slow = диск с файлом прогона не успевает записывать
failure-not-written = не удалось записать файл прогона: «{ $cause }»
failure-freshness-probe = не удаётся читать с реплик: { $error }
failure-load-start = не удаётся начать нагрузку: { $error }
failure-no-client-connected = ни один клиент не смог подключиться или войти{ $reason ->
    [none] {""}
   *[other] : «{ $reason }»
}
failure-feed-needs-server = для ленты данных с запросом в стенде нужен PostgreSQL
failure-feed-connection = не удаётся выполнить запрос ленты данных: { $error }
failure-dataset-needs-server = для набора данных в конце цепочки нужен PostgreSQL
failure-data-left = загруженные данные не удалось удалить: { $error }
failure-post-load = `{ $statement }`: { $error }
failure-node-ended = во время измерения { $node } { $end }{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
failure-out-of-memory = узлу { $node } не хватило памяти: ядро завершило часть его процессов


### Команда `capture`: capture-

capture-nothing = ни один запрос из журналов нельзя отправить повторно
capture-written = Записан { $path }: запросов { $requests }, сеансов { $sessions }, продолжительность { $duration }.
capture-statement = { $name }: { $share } запросов
capture-more = { $more ->
    [one] и ещё { $more } вид запросов
    [few] и ещё { $more } вида запросов
   *[other] и ещё { $more } видов запросов
}
capture-left-out = { $count ->
    [one] пропущен { $count } запрос
    [few] пропущено { $count } запроса
   *[other] пропущено { $count } запросов
}: { $reason }

### Команда `record`: record-

record-listening = Клиенты подключаются к { $listen }. Их запросы передаются на { $to } и записываются. Запись завершается по Ctrl-C.
record-certificate = не удаётся создать сертификат: { $reason }
record-no-certificate = `--tls-cert`: в файле { $path } нет сертификата в формате PEM; укажите файл, который начинается с `-----BEGIN CERTIFICATE-----`
record-no-key = `--tls-key`: в файле { $path } нет закрытого ключа в формате PEM без пароля; укажите файл с ключом сертификата
record-other-key = `--tls-key`: { $key } — не ключ сертификата из файла { $certificate }; укажите файлы одной пары
record-channel-binding = сервер предлагает `SCRAM-SHA-256-PLUS`, но через прокси этот механизм не работает: сертификаты разные. Клиенты с TLS не смогут войти: задайте у них `channel_binding=disable` или укажите в `--tls-cert` и `--tls-key` сертификат и ключ сервера
record-connect-failed = сервер недоступен: { $error }. Клиент получает эту ошибку
record-accept-failed = не удаётся принять соединение: { $error }
record-writing-failed = не удаётся сохранить запись: { $error }. Запросы по-прежнему передаются, но не записываются
record-nothing = ни один запрос не записан
record-http-listening = Клиенты подключаются к { $listen }. Их запросы передаются на { $to } и записываются. Запись завершается по Ctrl-C.
record-http-url = `--to` — не адрес сервиса HTTP; с `--http` укажите схему, узел и порт, например `http://127.0.0.1:8080`
record-http-written = Записан файл { $path }: { $requests ->
    [one] { $requests } запрос
    [few] { $requests } запроса
   *[other] { $requests } запросов
}. { $secrets ->
    [0] Секретов в нём не было.
    [one] Подстановкой заменён { $secrets } секрет.
    [few] Подстановками заменены { $secrets } секрета.
   *[other] Подстановками заменены { $secrets } секретов.
} Чтобы получить эксперимент: `pgdyno import { $path }`
record-http-cut = { $count ->
    [one] { $count } тело длиннее 1 МиБ: записано только начало
    [few] { $count } тела длиннее 1 МиБ: записано только начало
   *[other] { $count } тел длиннее 1 МиБ: записано только начало
}
record-http-binary = { $count ->
    [one] не записано { $count } тело
    [few] не записано { $count } тела
   *[other] не записано { $count } тел
}: это не текст в UTF-8, или сжатие — не `gzip` и не `deflate`
record-http-past = { $count ->
    [one] { $count } перенаправление содержит
    [few] { $count } перенаправления содержат
   *[other] { $count } перенаправлений содержат
} собственный адрес сервиса, и клиенты уходят мимо прокси: настройте сервис так, чтобы он брал адрес из заголовка `Host` или писал относительные адреса
record-http-upgraded = { $count ->
    [one] { $count } соединение перешло
    [few] { $count } соединения перешли
   *[other] { $count } соединений перешли
} на другой протокол, например WebSocket; данные переданы без записи
record-http-unreadable = { $count ->
    [one] { $count } соединение передано
    [few] { $count } соединения переданы
   *[other] { $count } соединений переданы
} без записи: это не `HTTP/1`
record-http-unfinished = { $count ->
    [one] { $count } запрос
    [few] { $count } запроса
   *[other] { $count } запросов
} без полного ответа
record-http-overflow = { $count ->
    [one] пропущен { $count } запрос
    [few] пропущено { $count } запроса
   *[other] пропущено { $count } запросов
}: запись достигла предела в 256 МиБ

### Команда `distil`: distil-

distil-log = { $path }: { $reason }
distil-unknown-format = формат журнала неизвестен; задайте `log_line_prefix` сервера ключом --log-line-prefix
distil-no-statement = в журналах нет запросов на английском языке; задайте `log_min_duration_statement = 0` и `lc_messages = 'C'`. Пропущено: { $skipped }
distil-wrong-format = большинство записей не в определённом формате; задайте `log_line_prefix` сервера ключом --log-line-prefix. { $skipped }
distil-several-databases = в журналах запросы к нескольким базам данных: { $databases }; выберите одну ключом --database
distil-no-database = в журналах нет запросов к базе данных { $database }
distil-no-operation = ни одна транзакция не может войти в эксперимент: { $left_out }
distil-out = { $path } — не имя файла эксперимента; нужны от 1 до 40 строчных латинских букв, цифр и дефисов и `.yaml`
distil-exists = { $path } уже существует; ничего не записано
distil-note = Написано командой `pgdyno distil` (версия { $version }) по { $logs }.
distil-read = Запросов: { $statements }, транзакций: { $transactions }, сеансов: { $sessions }; операции охватывают { $coverage } запросов.
distil-operation = операция { $name }: { $share } транзакций, запросов: { $statements }{ $rows ->
    [0] {""}
   *[other] , строк в источнике: { $rows }
 }
distil-written = Записано: { $path }{ $feeds ->
    [0] {""}
   *[other] {" "}и источники данных ({ $feeds })
 }. Впишите адрес в `stack`, затем:  pgdyno check { $path } --connect
distil-statements = { $source }: { $reason }
distil-no-extension = в базе данных нет расширения `pg_stat_statements`; подключитесь к базе этого сервера, в которой оно есть, или выполните `CREATE EXTENSION pg_stat_statements`
distil-no-statistics = в `pg_stat_statements` нет запросов этой базы данных, которые могут стать операциями{ $left_out ->
    [none] {""}
   *[other] : { $left_out }
 }
distil-statements-note = Написано командой `pgdyno distil` (версия { $version }) по `pg_stat_statements`, { $source }.
distil-statements-read = Вызовов: { $calls }; операции охватывают { $coverage } вызовов.
distil-deallocations = Сервер отбрасывал запросы с наименьшим числом вызовов (раз: { $count }), поэтому редких запросов не хватает: значение `pg_stat_statements.max` слишком мало.
distil-statements-operation = операция { $name }: { $calls } вызовов, { $time } времени
distil-skeleton-written = Записано: { $path }. { $fill_ins ->
    [0] Все значения берутся из таблиц. Впишите адрес в `stack`, затем:  pgdyno check { $path } --connect
   *[other] Осталось заполнить значения (`FILL_IN`): { $fill_ins }. Их покажет  pgdyno check { $path }
 }

### Команда `import`: import-

import-file = { $path }: { $reason }
import-origin = { $origin } — не адрес сервиса; пишите, например, --origin=https://shop.test
import-no-operation = ни один запрос не может войти в эксперимент: { $left_out }
import-nothing = в файле нет запросов
import-note = Написано командой `pgdyno import` (версия { $version }) по { $file }.
import-read = Прочитано { $requests ->
    [one] { $requests } запрос
    [few] { $requests } запроса
   *[other] { $requests } запросов
 }{ $redirects ->
    [0] {""}
   *[other] , из них переадресаций, за которыми следует pgdyno: { $redirects }
 }.
import-operation = операция { $name }{ $weight ->
    [none] {""}
   *[other] , вес { $weight }
 }{ $steps ->
    [one] {""}
    [few] , { $steps } шага
   *[other] , { $steps } шагов
 }{ $captures ->
    [none] {""}
   *[other] , извлекает { $captures }
 }{ $fill ->
    [true] , впишите значения
   *[false] {""}
 }
import-cookies = запросы с cookie, которых не устанавливает ни один ответ в файле: { $requests }; cookie удалены. Добавьте вход, который их устанавливает, или заголовок, например `Cookie: "session=${"{"}env:SESSION{"}"}"` вместо `cookies: true`
import-secrets = Перед прогоном задайте переменные окружения; их значений в файле нет:
import-written = Записано: { $path }. Затем:  pgdyno check { $path }, после него  pgdyno try { $path }

### Замечания прогона: note-

note-subject-address = адрес
note-subject-no-plans = планов нет
note-omitted = слишком велико для сохранения: { $mebibytes } МиБ


### Ошибки файлов прогонов: store-

# Сообщения `store-attempt-…` — инфинитивы для `store-attempt-failed`.
store-attempt-request-stop = запросить завершение «{ $path }»
store-attempt-begin = начать «{ $path }»
store-attempt-find = найти «{ $path }»
store-attempt-resume = продолжить «{ $path }»
store-attempt-list = прочитать каталог «{ $path }»
store-attempt-create = создать «{ $path }»
store-attempt-open = открыть «{ $path }»
store-attempt-read = прочитать «{ $path }»
store-attempt-remove = удалить «{ $path }»
store-attempt-start-thread = запустить поток записи в «{ $path }»
store-attempt-write = записать «{ $path }»
store-invalid-name = «{ $name }» не может быть именем прогона: нужно от 1 до 64 знаков a-z, 0-9 и -
store-attempt-failed = не удалось { $attempt }: { $error }
store-not-run = «{ $path }» — не прогон pgdyno
store-empty = «{ $path }» пуст: pgdyno завершился до первого измерения
store-newer-version = «{ $path }» имеет формат { $version }, а этот pgdyno знает форматы до { $known }
store-damaged = «{ $path }» повреждён: { $damage }
store-damage-work = его чтение требует больше работы, чем возможно для файла такой длины
store-damage-value = недопустимое значение в `{ $place }`{ $trial ->
    [none] {""}
   *[other] , измерение { $trial }
}
store-damage-missing = в нём нет { $kind ->
    [table] таблицы
    [index] индекса
   *[other] { $kind }
} «{ $name }»
store-damage-distributions = измерение { $trial } объявляет { $distributions } распределений в секунду: больше, чем может содержать файл
store-damage-json = неверный JSON: «{ $error }»
store-object = объект «{ $name }» ({ $kind ->
    [virtual] виртуальная таблица
    [table] таблица
    [view] представление
    [index] индекс
    [trigger] триггер
   *[other] { $kind }
})
store-attempt-reserve = зарезервировать 4{"\u00A0"}МиБ для «{ $path }»
store-unreadable-fact = не удаётся прочитать факт «{ $kind }»{ $trial ->
    [none] {""}
   *[other] {" "}измерения { $trial }
} в «{ $path }»: { $reason }; файл создан pgdyno { $program }: прочитайте его этой версией или восстановите неизменённую копию
store-unexpected-schema = «{ $path }» не прочитан: { $object } в нём не такой, как создаёт pgdyno, и при чтении могла бы выполниться чужая программа; используйте файл, только если знаете, кто его изменил, и сначала удалите этот объект
store-write-ahead = «{ $path }» в режиме упреждающей записи SQLite, который включила другая программа; отмените его:  `sqlite3 "{ $path }" "PRAGMA journal_mode = delete"`
store-hostile-journal = «{ $path }» не прочитан: журнал `{ $path }-journal` оставлен не pgdyno, и его откат мог бы изменить другие файлы; удалите оба файла или только журнал, если знаете, откуда он
store-value-too-long = «{ $path }» содержит значение больше { $mebibytes }{"\u00A0"}МиБ, а pgdyno таких не записывает
store-out-of-memory = данные одного вида в «{ $path }» не помещаются в { $gibibytes }{"\u00A0"}ГиБ памяти, и прочитать их сразу нельзя
store-not-found = прогона «{ $path }» нет
store-busy = «{ $path }» сейчас записывается
store-fact-unknown-kind = неизвестный вид
store-fact-version = версия { $version }, а этот pgdyno читает версии до { $newest }

### Записанный трафик: traffic-

traffic-log-unreadable = не удаётся прочитать журнал после строки { $line }: { $error }
traffic-log-no-csv = строка { $line } — не запись `csvlog`, как и все остальные; в записи не меньше 23 столбцов, и первый из них — время
traffic-log-no-json = строка { $line } — не запись `jsonlog`, как и все остальные; запись — объект с полями timestamp, error_severity и pid
traffic-log-no-prefix = строка { $line } не начинается с префикса «{ $prefix }», как и все остальные; укажите `log_line_prefix` сервера; сообщения журнала должны быть на английском языке
traffic-prefix-escape = неизвестная подстановка { $escape } в префиксе «{ $prefix }»; укажите `log_line_prefix` сервера
traffic-prefix-time = в префиксе «{ $prefix }» нет времени; порядок запросов известен только с `%m`, `%t` или `%n`
traffic-prefix-session = в префиксе «{ $prefix }» нет сеанса; сеансы запросов известны только с `%c` или `%p`
traffic-prefix-long = префикс «{ $prefix }» слишком длинный
traffic-skipped = { $count ->
    [one] { $count } запись
    [few] { $count } записи
   *[other] { $count } записей
}: { $kind } (первая — в строке { $line }{ $input ->
    [1] {""}
   *[other] {" "}журнала { $input }
})
traffic-skipped-malformed = не в формате журнала
traffic-skipped-encoding = не UTF-8
traffic-skipped-other = другие сообщения
traffic-skipped-parse = длительности разбора и привязки, которые относятся к выполнению
traffic-skipped-fetch = следующие строки того же выполнения
traffic-skipped-duration = длительности без запроса
traffic-skipped-plan = планы `auto_explain`
traffic-skipped-error = ошибки без запроса; включите `log_min_error_statement = error`
traffic-skipped-parameters = параметры, которые не удаётся прочитать
traffic-no-recording = файл не является записью; записи делают `pgdyno record` и `pgdyno capture`
traffic-recording-incomplete = запись не завершена или файл обрезан; сделайте или скопируйте запись ещё раз
traffic-recording-damaged = содержимое не соответствует контрольной сумме; сделайте или скопируйте запись ещё раз
traffic-unrecorded-copy = COPY, данных которого нет в журнале
traffic-unrecorded-secret = запросы с паролем
traffic-unrecorded-parameters = в журнале нет их параметров; включите `log_parameter_max_length = -1`
traffic-unrecorded-unreadable = кавычка или комментарий не закрыты
traffic-unrecorded-length = длиннее предела: 4 ГиБ из журналов, 64 МиБ при записи через прокси
traffic-unrecorded-unfinished = соединение закрылось раньше, чем клиент отправил запрос целиком
traffic-unrecorded-overload = запись на диск медленнее, чем клиенты отправляют запросы
traffic-left-out = { $transactions ->
    [one] { $transactions } транзакция
    [few] { $transactions } транзакции
   *[other] { $transactions } транзакций
} ({ $share }{"\u00A0"}% запросов): { $reason }
traffic-left-out-rare = редкие
traffic-left-out-failed = запрос завершился ошибкой
traffic-left-out-unfinished = в журнале нет их конца
traffic-left-out-copy = COPY от клиента или клиенту: данных нет в журнале
traffic-left-out-prepare = `PREPARE`, `EXECUTE` или `DEALLOCATE` на языке SQL, которые зависят от прежних транзакций
traffic-left-out-secret = запросы с паролем
traffic-left-out-session = меняют состояние сеанса, например `SET`, `LISTEN` или `pg_advisory_lock`
traffic-left-out-administration = запросы, меняющие схему, настройки или права
traffic-left-out-unreadable = не закрыта кавычка или не закрыт комментарий
traffic-left-out-parameters = в журнале нет их параметров; включите `log_parameter_max_length = -1`
traffic-left-out-anonymise = константы, которые нельзя обезличить, например строки со спецпоследовательностями
traffic-left-out-inexpressible = нет запроса, слишком много параметров или двоеточие перед именем внутри кавычек, или `AND CHAIN`
traffic-skeleton-left-out = { $statements ->
    [one] { $statements } запрос
    [few] { $statements } запроса
   *[other] { $statements } запросов
} ({ $calls }{"\u00A0"}% вызовов, { $time }{"\u00A0"}% времени): { $reason }
traffic-skeleton-rare = редкие
traffic-skeleton-hidden = сервер не показывает их текст; подключитесь пользователем с правами роли `pg_read_all_stats`
traffic-skeleton-nested = выполнены внутри функций, которые вызывают другие запросы
traffic-skeleton-transaction = управление транзакциями, например `BEGIN` и `COMMIT`
traffic-skeleton-utility = служебные команды и запросы, меняющие сеанс или сервер
traffic-skeleton-monitoring = читают только системные каталоги и статистику
traffic-skeleton-pgdyno = запросы самого pgdyno
traffic-export-csv = файл — не CSV: { $reason }
traffic-export-column = в первой строке нет столбца `{ $column }`; выгрузите представление командой `psql --csv -c 'SELECT * FROM pg_stat_statements'`
traffic-export-number = строка { $line }: `{ $text }` в столбце `{ $column }` — не число
traffic-web-encoding = файл — не текст в UTF-8: недопустимый байт { $byte }
traffic-web-syntax = строка { $line }, столбец { $column }: { $reason }
traffic-web-value = `{ $place }` отсутствует или имеет другой тип; ожидается { $expected ->
    [list] список
    [object] объект
   *[text] текст
}
traffic-web-unknown-format = файл — ни HAR, ни список команд curl, ни описание OpenAPI
traffic-web-openapi-version = описание — версии { $version } OpenAPI; читаются версии 3.0 и 3.1
traffic-web-curl-skipped = команда в строке { $line } пропущена: { $reason }
traffic-web-curl-option = эксперимент не может выразить ключ { $option }
traffic-web-curl-unknown = неизвестный ключ { $option }
traffic-web-curl-value = нет значения ключа { $option }
traffic-web-curl-file = ключ { $option } читает файл; впишите содержимое
traffic-web-curl-url = в ней нет URL
traffic-web-curl-quote = не закрыта кавычка
traffic-web-left-out = Пропущено: { $requests ->
    [one] { $requests } запрос
    [few] { $requests } запроса
   *[other] { $requests } запросов
} ({ $reason })
traffic-web-left-out-origin = к { $origin }; другой сервис выбирается ключом --origin
traffic-web-left-out-static = статические файлы; их оставляет ключ --with-assets
traffic-web-left-out-preflight = запросы OPTIONS, которыми браузер спрашивает разрешения
traffic-web-left-out-websocket = соединения WebSocket
traffic-web-left-out-event-stream = ответы без конца (потоки событий)
traffic-web-left-out-no-response = без ответа
traffic-web-left-out-cached = ответил кэш браузера
traffic-web-left-out-method = метод { $method }, которого у pgdyno нет
traffic-web-left-out-scheme = без правильного URL протокола HTTP
traffic-web-left-out-binary = тело — не текст, или его нет в файле
traffic-web-left-out-long = тело длиннее 16 КиБ
traffic-web-left-out-body = GET или HEAD с телом
traffic-web-left-out-too-many = больше, чем помещается в файл эксперимента
traffic-web-secret = { $name }: значение «{ $field }»
traffic-web-secret-basic = { $name }: имя и пароль в Base64, как их печатает  printf %s имя:пароль | base64
traffic-web-secret-cookie = { $name }: значение cookie «{ $field }», которое запрос повторяет вне cookie; pgdyno не умеет извлекать cookie
traffic-web-secret-required = { $name }: данные для входа, которых требует описание («{ $field }»)

### Logs of servers and services: logs-

logs-heading = Журналы серверов и сервисов
logs-deadlocks = Взаимные блокировки по командам без значений; суммы по всем измерениям
logs-column-statements = команды
logs-column-relation = отношение
logs-column-locks = ожидание
logs-column-first = первая
logs-unknown-statements = в журнале нет команд
logs-more-rows = { $count ->
    [one] ещё { $count } строка
    [few] ещё { $count } строки
   *[other] ещё { $count } строк
 } в документе JSON
logs-slow = Команды, которые PostgreSQL записал в журнал как медленные; суммы по всем измерениям
logs-slow-statements = Медленные команды по тексту без значений
logs-messages = Сообщения журналов, которые отличаются не только числами
logs-folded = { $name } ({ $count })
logs-column-threshold = log_min_duration_statement
logs-column-per-thousand = на 1000 транзакций
logs-column-mean = среднее
logs-column-node = узел
logs-column-kind = вид
logs-column-message = сообщение
logs-column-first-line = первая
logs-column-last-line = последняя
logs-further-lines = остальные строки, текст которых не сохранён

### Состояния сеансов, пулов и серверов: states-

states-heading = Сеансы, пулы и серверы балансировщика
states-sessions = Сеансы PostgreSQL; среднее (максимум) по отсчётам всех измерений
states-pools = Пулы; среднее (максимум) по отсчётам всех измерений
states-servers = Серверы балансировщика; среднее (максимум) по отсчётам и суммы по всем измерениям
states-gauge = { $mean } ({ $max })
states-column-application = приложение
states-column-user = пользователь
states-column-client = клиент
states-column-state = состояние
states-column-sessions = сеансы
states-column-pool = пул
states-column-clients-active = активные клиенты
states-column-clients-waiting = ждущие клиенты
states-column-longest-wait = дольше всего ждали
states-column-servers-active = занятые соединения с сервером
states-column-servers-idle = свободные соединения с сервером
states-column-size = размер пула
states-column-reserve = резерв
states-column-connections = соединения базы
states-column-paused = приостановлена
states-column-server = сервер
states-column-up = доступен
states-column-begun = начато сеансов
states-column-queue = очередь
states-column-connection-errors = неудачные соединения
states-column-response-errors = неверные ответы
states-column-retries = повторы

### Агенты: agents-, и их серверы NATS: nats-

nats-start = не удалось запустить клиент NATS: { $reason }
nats-unreachable = сервер NATS не отвечает по адресу { $server }: { $reason }
    .help = запустите его командой  nats-server  или укажите другой с --nats; с --local-agents сервер и агенты запускаются на этой машине
nats-credentials = сервер NATS по адресу { $server } не принимает учётные данные: { $reason }
    .help = задайте NATS_CREDS, или NATS_USER и NATS_PASSWORD, или NATS_TOKEN
nats-closed = соединение с сервером NATS закрыто
nats-password-argument = адрес сервера NATS содержит пароль, который может прочитать любой пользователь этой машины
    .help = напишите --nats { $url } и задайте NATS_USER и NATS_PASSWORD или NATS_TOKEN
agents-none = по адресу { $server } не отвечает ни один агент
    .help = запустите агентов командой  pgdyno agent --nats { $server }
agents-missing = нужно агентов: { $needed }, но по адресу { $server } удалось занять только { $leased }: { $refused }
    .help = список агентов выводит  pgdyno agents
agents-refused = { $agent } { $reason }
agents-refused-label = не имеет нужной метки { $label }
agents-refused-busy = работает на другого координатора ({ $coordinator })
agents-refused-version = имеет версию { $theirs } вместо { $ours }
agents-refused-silent = не отвечает
agents-refused-key = прислал неверный ключ
agents-failed = агент { $agent }: { $reason }
agents-added = нагрузку ограничили агенты, поэтому испытание повторяется: { $agents ->
    [one] { $agents } агент
    [few] { $agents } агента
   *[many] { $agents } агентов
}
agents-none-left = нагрузку ограничили агенты, но других подходящих свободных агентов нет
note-subject-agents = агенты
agents-lost-lease = агент прекратил работу на этого координатора, потому что 3 секунды не получал от него сообщений
agents-lost-silent = агент не отвечает { $seconds } с
agents-lost-nats = соединение с сервером NATS разорвано { $seconds } с
agents-lost-damaged = сообщение не удалось прочитать
agents-not-allowed = агенту не разрешено нагружать { $target }, только { $allowed }
    .help = запустите агента с --allow и этим узлом
agents-wrong-network = { $text } — не сеть
    .help = напишите адрес и длину префикса, например 10.0.0.0/8
agents-no-driver = драйвер { $driver } недоступен на машине агента
    .help = добавьте --driver=epoll
agents-loopback = цель { $target } — адрес этой машины, а агент { $agent } работает на другой
    .help = укажите цель адресом, который доступен агентам
bench-agent-lost = агент { $agent } не выполнил свою часть; нагрузка была меньше заданной
bench-agent-late = агент { $agent } узнал о начале окна на { $late } позже, чем нужно
bench-clock-uncertain = часы агента { $agent } известны неточно{ $uncertainty ->
    [none] {""}
   *[other] {" "}(до { $uncertainty })
}, поэтому его окно могло начаться раньше или позже других
bench-agents-limit = нагрузку ограничили агенты: { $agents ->
    [one] { $agents } агент опаздывал или был перегружен
    [few] { $agents } агента опаздывали или были перегружены
   *[many] { $agents } агентов опаздывали или были перегружены
}{ $busy ->
    [none] {""}
   *[other] {" "}(самый занятый поток — { $busy })
}; помогли бы ещё хотя бы { $more }
search-stop-agents = агент потерян, опоздал, или его часы известны неточно
experiment-generators-failover = испытание с отказами не может использовать агентов: журнал записывает каждую запись на этой машине до её отправки
    .help = удалите `generators`
experiment-generators-recorded = нагрузка, которая отправляет записанный трафик, не может использовать агентов
    .help = удалите `generators`
experiment-generators-lost = { $other ->
    [none] `continue` невозможно: без заявок потерянного агента нагрузка меньше заданной, и цели проверялись бы не при заданной нагрузке
   *[other] неизвестный исход { $other }
}
    .help = напишите  lost: invalid ; поиск и матрица продолжат следующее испытание с другим свободным агентом
experiment-generators-password = адрес серверов NATS содержит пользователя или пароль
    .help = задайте переменные окружения NATS_USER и NATS_PASSWORD или NATS_TOKEN
agents-no-login = вход на { $target } имеет настройку, которую агенты не поддерживают: channel_binding или require_auth
    .help = уберите её или измеряйте с этой машины
agents-line = { $agent } на { $host }: { $cpus ->
    [one] { $cpus } ЦП
    [few] { $cpus } ЦП
   *[many] { $cpus } ЦП
}, файлов: { $files ->
    [none] без ограничения
   *[other] { $files }
}, портов: { $ports }, драйверы { $drivers }{ $jitter ->
    [none] {""}
   *[other] , таймеры опаздывают на { $jitter } (p90)
}; метки: { $labels }; может нагружать { $allowed }; { $coordinator ->
    [none] свободен
   *[other] работает на { $coordinator }
}{ $other ->
    [none] {""}
   *[other] ; версия { $other } отличается от этой
}
agents-heading = Агенты
agents-caption = Каждый агент за все испытания. Времена и доли взяты из испытания, в котором они наибольшие; квантили не усредняются.
agents-column-agent = агент
agents-column-host = машина
agents-column-threads = потоки
agents-column-trials = испытания
agents-column-ok = успешно
agents-column-other = неуспешно
agents-column-p99 = p99
agents-column-send-lag = опоздание отправки, p99
agents-column-busy = занятость потока
agents-column-jitter = опоздание таймеров, p99
agents-column-clock = неточность часов
agents-column-lost = потерян
agents-name-taken = имя { $name } уже у другого агента на { $server }
    .help = выберите другое с --name
agents-refused-duplicate = — имя нескольких агентов
agents-part = агент { $agent }: успешно { $ok } из { $arrivals }{ $lag ->
    [none] {""}
   *[other] , опоздание отправки { $lag } (p99)
}{ $clock ->
    [none] {""}
   *[other] , часы известны с точностью { $clock }
}


### Документ из нескольких прогонов: document-

document-contents = Содержание
document-goals = Цели
document-method = Методика
document-acceptance = Критерии приёмки
document-results = Результаты
document-profile = Профиль нагрузки
document-search = Поиск максимума
document-confirmation = Подтверждение максимума
document-soak = Длительная нагрузка
document-grid = Сравнение настроек
document-plans = Планы запросов
document-advice = Рекомендации по индексам
document-conclusions = Заключение
document-annex = Приложение: команды и файлы, чтобы повторить прогоны
document-table = Таблица { $number }{ $caption ->
    [none] {""}
   *[other] . { $caption }
}
document-figure = Рисунок { $number }. { $caption }
document-unfinished = Прогон не завершён ({ $state }). Его числа относятся только к законченным измерениям.
document-invalid-trials = Недействительных измерений: { $invalid } из { $total }. В числа они не входят; причины — в оговорках.
document-nothing-measured = У этого прогона нет чисел.
document-level-not-held = Ни одно измерение не выдержало уровень, поэтому результата нет.
document-figure-name = показатель
document-figure-value = значение
document-figure-detail = подробности
document-profile-caption = Профиль нагрузки и измеренная интенсивность
document-profile-at-maximum = Профиль нагрузки и интенсивность на максимуме
document-profile-share = доля в профиле, %
document-profile-delivered-share = доля выполненных, %
document-search-figure = { $cell ->
    [none] Все шаги поиска
   *[other] { $cell }: все шаги поиска
} ({ $steps }): интенсивность и время ответа на каждом уровне. Крест — уровень не выдержан, кольцо — измерение не учитывается.
document-time-axis = время от начала измерения
document-lines-left-out = { $count ->
    [one] ещё { $count } линия не показана
    [few] ещё { $count } линии не показаны
   *[other] ещё { $count } линий не показано
}

bind-several = для нескольких прогонов нужен ключ --bind: из них получается один документ
    .help = `pgdyno report --bind ПРОГОН ПРОГОН -o report.html`
bind-no-output = с --bind нужно имя документа
    .help = добавьте `-o report.html`, `-o report.pdf` или `-o report.docx`
bind-format = { $format } — не формат документа
    .help = напишите `html`, `pdf` или `docx`
bind-format-alone = { $format } — формат документов
    .help = добавьте --bind
bind-binary-output = { $format } нельзя вывести в стандартный вывод
    .help = напишите `-o report.{ $format }`
bind-extension = по имени { $path } не понять формат
    .help = напишите имя с окончанием `.html`, `.pdf` или `.docx` или добавьте --format
bind-texts-alone = ключу --document нужен --bind
    .help = `pgdyno report --bind ПРОГОН --document ФАЙЛ -o report.html`
bind-no-texts = в { $path } нет раздела `document`
    .help = добавьте его, например  document: {"{"} goals: "…" {"}"}
bind-no-browser = для PDF нужен Chromium или Chrome, а в PATH нет ни одного из { $programs }
    .help = установите его, например командой  apt install chromium , или запишите `report.html` и напечатайте его из браузера
bind-print-failed = { $program } не смог напечатать документ: { $error }
    .help = запишите `report.html` и напечатайте его из браузера
