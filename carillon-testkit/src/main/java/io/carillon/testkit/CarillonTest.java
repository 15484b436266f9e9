package io.carillon.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class a PostgreSQL database of its own with Carillon's tables. Constructors and methods may ask for a {@link TestDatabase}, a
 * {@link TestClock}, a {@link CarillonKit} or a {@link FaultProxy}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(CarillonExtension.class)
public @interface CarillonTest {
    /** The instant at which the clock stands when each test begins, such as {@code 2026-03-29T00:30:00Z}; empty: real time. */
    String at() default "";
}
