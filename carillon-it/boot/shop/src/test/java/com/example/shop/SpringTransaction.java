package com.example.shop;

import io.carillon.Carillon;
import io.carillon.Project;
import java.sql.Connection;
import java.util.function.Function;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Calls Carillon in the transaction of the caller. */
@Component
class SpringTransaction {
    private final Carillon carillon;
    private final DataSource dataSource;

    SpringTransaction(Carillon carillon, DataSource dataSource) {
        this.carillon = carillon;
        this.dataSource = dataSource;
    }

    @Transactional(propagation = Propagation.MANDATORY)
    public <T> T call(Function<Project, T> work) {
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            return work.apply(carillon.in(connection));
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }
}
