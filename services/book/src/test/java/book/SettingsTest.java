package book;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
    @Test
    void whatTheEnvironmentDecides() {
        Settings made = Settings.of(Map.of(
                "ADDRESS", "[::1]:81", "DATABASE_URL", "postgres://me@db:6432/books?sslmode=disable", "THREADS", "160",
                "POOL_SIZE", "96", "QUERY_TIMEOUT", "300ms", "PREPARE", "false")::get);
        assertThat(made.host()).isEqualTo("::1");
        assertThat(made.timeout()).isEqualTo(Duration.ofMillis(300));
        assertThat(made.properties())
                .containsEntry("server.port", 81)
                .containsEntry("server.tomcat.threads.max", 160)
                .containsEntry("spring.datasource.hikari.maximum-pool-size", 96)
                .containsEntry("spring.datasource.username", "me")
                .containsEntry("spring.datasource.url",
                        "jdbc:postgresql://db:6432/books?sslmode=disable&prepareThreshold=0&ApplicationName=book");
        assertThat(Settings.of(name -> null).threads()).isEqualTo(5);
        assertThat(Settings.of(name -> null).pool()).isEqualTo(3);
    }

    @Test
    void allThatIsWrongIsTold() {
        Map<String, String> wrong = Map.of(
                "ADDRESS", "here", "DATABASE_URL", "mysql://u:secret@x/", "THREADS", "0", "POOL_SIZE", "many",
                "QUERY_TIMEOUT", "soon", "PREPARE", "maybe");
        assertThatThrownBy(() -> Settings.of(wrong::get))
                .hasMessageContainingAll(
                        "ADDRESS=here", "DATABASE_URL:", "THREADS=0", "POOL_SIZE=many", "QUERY_TIMEOUT=soon", "PREPARE=maybe")
                .hasMessageNotContaining("secret");
    }
}
