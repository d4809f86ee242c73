package book;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Books and their prices: a service under test, with the habits that real ones have. README.md tells its settings. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        try {
            application(Settings.of(System::getenv)).run(args);
        } catch (Settings.Wrong wrong) {
            System.err.println("book: error: " + wrong.getMessage());
            System.exit(1);
        }
    }

    static SpringApplication application(Settings settings) {
        SpringApplication it = new SpringApplication(Application.class);
        it.setDefaultProperties(settings.properties());
        return it;
    }
}
