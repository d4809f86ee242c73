package book;

import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.http.ResponseEntity;
import org.springframework.orm.jpa.JpaSystemException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers errors: 504 if the database timed out, 503 if there is no database, 500 otherwise. */
@RestControllerAdvice
class Failures {
    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

    @ExceptionHandler(QueryTimeoutException.class)
    ResponseEntity<Map<String, String>> late() {
        return told(504, "the database did not answer in time");
    }

    @ExceptionHandler({
        CannotCreateTransactionException.class,
        DataAccessResourceFailureException.class,
        JpaSystemException.class,
        TransactionException.class
    })
    ResponseEntity<Map<String, String>> gone() {
        return told(503, "there is no connection to the database");
    }

    @ExceptionHandler(DataAccessException.class)
    ResponseEntity<Map<String, String>> refused(DataAccessException error) {
        LOG.warn("the database refused the statement: {}", error.getClass().getSimpleName());
        return told(500, "the database refused the statement");
    }

    private static ResponseEntity<Map<String, String>> told(int status, String what) {
        return ResponseEntity.status(status).body(Map.of("error", what));
    }
}
