package com.example.shop;

import io.carillon.Carillon;
import io.carillon.dashboard.CarillonDashboard;
import jakarta.servlet.http.HttpServlet;
import javax.sql.DataSource;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DashboardConfiguration {
    @Bean
    ServletRegistrationBean<HttpServlet> dashboard(Carillon carillon, DataSource dataSource) {
        return new ServletRegistrationBean<>(
                CarillonDashboard.on(carillon, dataSource).publicReadOnly().servlet(), "/carillon/*");
    }
}
