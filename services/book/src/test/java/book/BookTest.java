package book;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

class BookTest {
    private static final String BOTH = "author=%D0%A7%D0%B5%D1%85%D0%BE%D0%B2&name=%D0%A7%D0%B0%D0%B9%D0%BA%D0%B0";

    private final HttpClient client = HttpClient.newHttpClient();

    private static ServletWebServerApplicationContext started(String database) {
        Map<String, String> environment =
                Map.of("ADDRESS", "127.0.0.1:0", "DATABASE_URL", database, "QUERY_TIMEOUT", "500ms");
        return (ServletWebServerApplicationContext) Application.application(Settings.of(environment::get)).run();
    }

    private HttpResponse<String> ask(ServletWebServerApplicationContext of, String method, String path, String body)
            throws Exception {
        URI where = URI.create("http://127.0.0.1:" + of.getWebServer().getPort() + path);
        HttpRequest request = HttpRequest.newBuilder(where)
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    private void check(ServletWebServerApplicationContext of, String request, String body, int status, String contains)
            throws Exception {
        String[] parts = request.split(" ");
        HttpResponse<String> answer = ask(of, parts[0], parts[1], body);
        assertThat(answer.statusCode()).as(request + ": " + answer.body()).isEqualTo(status);
        assertThat(answer.body()).as(request).contains(contains);
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "TEST_DATABASE_URL", matches = ".+")
    void sevenOperationsOfARealServer() throws Exception {
        try (var it = started(System.getenv("TEST_DATABASE_URL"))) {
            JdbcTemplate sql = it.getBean(JdbcTemplate.class);
            sql.execute("DROP TABLE IF EXISTS book.bookv2; DROP SEQUENCE IF EXISTS book.bookv2_seq;"
                    + "CREATE SCHEMA IF NOT EXISTS book; CREATE SEQUENCE book.bookv2_seq INCREMENT 50;"
                    + "CREATE TABLE book.bookv2 (id bigint PRIMARY KEY, author text, name text, price bigint)");
            String book = "{\"author\":\"Чехов\",\"name\":\"Чайка\",\"price\":19900}";
            check(it, "POST /books", book, 201, "{\"id\":1}");
            check(it, "POST /books", "{\"author\":\" \",\"name\":\"x\",\"price\":1}", 400, "");
            check(it, "GET /books?author=%D0%A7%D0%B5%D1%85%D0%BE%D0%B2", null, 200, "\"name\":\"Чайка\"");
            check(it, "GET /books?name=%D0%A7%D0%B0%D0%B9%D0%BA%D0%B0", null, 200, "\"price\":19900");
            check(it, "PUT /books/price?" + BOTH, "{\"price\":25000}", 200, "{\"changed\":1}");
            check(it, "GET /books?" + BOTH, null, 200, "\"price\":25000");
            check(it, "GET /books/page", null, 200, "\"total\":1}");
            check(it, "GET /books/page?size=0", null, 400, "");
            check(it, "GET /books", null, 400, "");
            check(it, "DELETE /books?" + BOTH, null, 200, "{\"deleted\":1}");
            check(it, "GET /books?" + BOTH, null, 200, "[]");
            check(it, "GET /stats", null, 200, "\"size\":5");
            // A pool of three connections, all in use: the fourth request gets an error before its timeout.
            var keepers = new java.sql.Connection[3];
            for (int i = 0; i < 3; i++) {
                keepers[i] = sql.getDataSource().getConnection();
            }
            check(it, "GET /books?" + BOTH, null, 503, "no connection");
            for (var keeper : keepers) {
                keeper.close();
            }
            check(it, "GET /books?" + BOTH, null, 200, "[]");
            sql.execute("DROP TABLE book.bookv2");
            check(it, "GET /books?" + BOTH, null, 500, "refused");
        }
    }

    @Test
    void withoutAServer() throws Exception {
        try (var it = started("postgres://nobody@127.0.0.1:1/none")) {
            check(it, "GET /health", null, 200, "up");
            check(it, "GET /books?" + BOTH, null, 503, "no connection");
        }
    }
}
