package io.carillon.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class its own PostgreSQL database with the Carillon tables. Constructors and methods may declare
 * parameters of the types {@link TestDatabase}, {@link TestClock}, {@link CarillonKit} and {@link FaultProxy}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(CarillonExtension.class)
public @interface CarillonTest {
    /**
     * The instant at which the clock is stopped before each test, such as {@code 2026-03-29T00:30:00Z}; empty
     * for real time.
     */
    String at() default "";
}
